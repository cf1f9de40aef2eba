// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

extension DiskState {
    /// A file whose head is right.
    struct Opened {
        let file: OpenFile
        let head: EntryHead
        let headLength: Int
        let mark: FileMark
        /// The beginning of the body, which came with the head.
        let beginning: Data
    }

    enum Opening {
        case opened(Opened)
        /// There is no such file, or it is not one of the key.
        case missing
        /// The file is not what was written.
        case broken(FileMark)
        /// The disk or the process has failed, which says nothing about the file.
        case failed
    }

    /// The number of bytes that are read with the first call: most entries are not larger.
    private static let firstLength = 65_536

    func open(_ name: EntryName, _ key: DiskKey) -> Opening {
        do throws(DiskFailure) {
            let file = try directory.open(DiskDirectory.path(name))
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { return .missing }
            let mark = FileMark(name, status)
            let length = Int(status.st_size)
            let first = try file.read(at: 0, count: min(length, Self.firstLength))
            guard
                let lengths = EntryFormat.lengths([UInt8](first.prefix(EntryFormat.prefixLength))),
                lengths.file == length
            else { return .broken(mark) }
            var bytes = first
            if lengths.head > first.count {
                bytes += try file.read(at: first.count, count: lengths.head - first.count)
            }
            guard let head = EntryFormat.decode([UInt8](bytes.prefix(lengths.head))) else {
                return .broken(mark)
            }
            guard head.partition == key.partition, head.url == key.url else { return .missing }
            return .opened(
                Opened(
                    file: file, head: head, headLength: lengths.head,
                    mark: mark, beginning: bytes.dropFirst(lengths.head)))
        } catch {
            return error.isMissing ? .missing : .failed
        }
    }

    /// The body of a file, of which a small one is read and checked at once; nil when it is not what
    /// was written, or when a large one cannot be kept open.
    func body(_ opened: Opened) -> StoredBody? {
        let head = opened.head
        guard head.bodyLength <= settings.maxWholeBody else {
            guard DescriptorReserve.hasRoom else { return nil }
            let stored = StoredFile(
                opened.file, head, at: opened.headLength, queue: bodyQueue,
                openBodies: openBodies, limit: settings.maxOpenBodies,
                whenBroken: { [broken] in note(opened.mark, in: broken) })
            return stored.map { .file($0) }
        }
        // A copy, so that it does not keep the head in memory.
        var body = Data(opened.beginning.prefix(head.bodyLength))
        if body.count < head.bodyLength {
            let position = opened.headLength + body.count
            guard
                let rest = try? opened.file.read(
                    at: position, count: head.bodyLength - body.count)
            else { return nil }
            body += rest
        }
        guard EntryHead.blocks(of: body) == head.blocks else {
            note(opened.mark, in: broken)
            return nil
        }
        return .memory(body)
    }

    /// The files of a URL in a partition; nil when they cannot be listed.
    func names(_ key: DiskKey) -> [EntryName]? {
        let prefix = EntryName.prefix(key.urlDigest, DiskKey.short(key.partition))
        let folder = DiskDirectory.folder(EntryName.folder(key.urlDigest))
        let names = try? directory.names(in: folder, beginning: prefix)
        return names?.compactMap { EntryName($0) }
    }
}

/// Notes a broken file, which the next call on the queue of the store removes.
private func note(_ mark: FileMark, in broken: Locked<Set<FileMark>>) {
    _ = broken.withLock { $0.insert(mark) }
}
