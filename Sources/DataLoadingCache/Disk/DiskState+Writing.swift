// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

extension DiskState {
    /// What became of a response that was to be stored.
    enum Storing: Sendable {
        case stored(FileMark)
        /// The disk does not take it.
        case failed
        /// A newer one is there already.
        case overtaken
    }

    /// Stores a response in place of those that the same request would choose, unless one of them is
    /// newer.
    mutating func store(
        _ response: StoredResponse, _ body: Data, _ key: DiskKey, for request: HTTPHeaders
    ) -> Storing {
        removeBroken()
        // Before the new file is there: of two processes that store at the same time, none sees the
        // other's file and removes it, or only one of them does.
        guard let present = names(key) else {
            // What is there can be neither replaced nor left.
            unremoved.note(url: key.urlDigest)
            return .failed
        }
        let matching = present.compactMap { self.matching($0, key, request) }
        let isOvertaken = matching.contains { opened in
            let times = opened.head.times(own: index.items[opened.mark.name]?.received)
            return response.isOvertaken(by: times, opened.head.headers)
        }
        if isOvertaken { return .overtaken }
        let replaced = matching.map(\.mark)
        let head = EntryHead(
            response, key, bodyLength: body.count, blocks: EntryHead.blocks(of: body))
        let mark = head.flatMap { write($0, .memory(body), key, own: response.times) }
        // What could not be replaced is no longer right either.
        for old in replaced where old.name != mark?.name {
            if !remove(old) { unremoved.note(url: key.urlDigest) }
        }
        guard let mark else { return .failed }
        removeSurplus(present.filter { $0 != mark.name })
        return .stored(mark)
    }

    /// The file of a name, if a request chooses its response.
    private func matching(
        _ name: EntryName, _ key: DiskKey, _ request: HTTPHeaders
    ) -> Opened? {
        guard case .opened(let opened) = open(name, key),
            opened.head.variantKey.matches(request)
        else { return nil }
        return opened
    }

    /// Removes the variants of a URL that were not used for longest, so that there is room for
    /// another one.
    private mutating func removeSurplus(_ names: [EntryName]) {
        guard names.count >= VariantList<Data>.maxCount else { return }
        let sorted = names.sorted {
            (index.items[$0]?.used ?? 0) < (index.items[$1]?.used ?? 0)
        }
        for name in sorted.dropLast(VariantList<Data>.maxCount - 1) { remove(name) }
    }

    /// Puts new fields and times in place of those of a response, if it is still there: the file is
    /// written anew with its body, or removed when it cannot be.
    mutating func update(
        _ old: StoredResponse, by new: StoredResponse, _ key: DiskKey
    ) -> FileMark? {
        removeBroken()
        let name = key.name(old.variant.fields)
        guard isRidOfRemoved(key), case .opened(let present) = open(name, key),
            present.head.isOf(old)
        else { return nil }
        let head = EntryHead(
            new, key, bodyLength: present.head.bodyLength, blocks: present.head.blocks)
        let mark = head.flatMap { head in
            body(present).flatMap { write(head, $0, key, own: new.times) }
        }
        // What could not be replaced is no longer right.
        if mark?.name != name, !remove(present.mark) { unremoved.note(url: key.urlDigest) }
        return mark
    }

    /// Writes a file beside, and gives it its name; nil when it cannot, or when a body that is to be
    /// copied is broken.
    ///
    /// The disk is not told to write it down at once, which would take milliseconds each time: a
    /// loss of power costs what was written in the seconds before, and a file that it has left in
    /// parts has a wrong checksum.
    private mutating func write(
        _ head: EntryHead, _ body: StoredBody, _ key: DiskKey, own times: ResponseTimes
    ) -> FileMark? {
        guard outage.allowsWrite(at: settings.now()), isRidOfRemoved(key),
            let bytes = EntryFormat.encode(head),
            DiskIndex.room(Int64(bytes.count + head.bodyLength)) <= settings.capacity
        else { return nil }
        let name = key.name(head.variant)
        do throws(DiskFailure) {
            guard let mark = try write(name, bytes, body) else { return nil }
            outage.noteSuccess()
            let now = settings.fileTime()
            index.set(
                name,
                DiskIndex.Item(
                    length: DiskIndex.room(mark.length), used: now, noted: now,
                    received: times.isOfThisProcess ? times.received : nil))
            return mark
        } catch {
            noteFailure(error)
            return nil
        }
    }

    private func write(
        _ name: EntryName, _ head: [UInt8], _ body: StoredBody
    ) throws(DiskFailure) -> FileMark? {
        let folder = DiskDirectory.folder(name.folder)
        let unfinished = "\(folder)/\(directory.freshName(DiskDirectory.unfinished))"
        let file = try createFile(unfinished, in: folder)
        do throws(DiskFailure) {
            try file.write(head)
            for piece in body.pieces {
                guard let piece else {
                    try directory.remove(unfinished)
                    return nil
                }
                try file.write(piece)
            }
            let mark = FileMark(name, try file.status())
            try directory.rename(unfinished, to: DiskDirectory.path(name))
            return mark
        } catch {
            try? directory.remove(unfinished)
            throw error
        }
    }

    private func createFile(_ path: String, in folder: String) throws(DiskFailure) -> OpenFile {
        do throws(DiskFailure) {
            return try directory.create(path)
        } catch {
            // The first file of a folder, or all of them were removed.
            guard error.isMissing else { throw error }
            try directory.makeFolder(DiskDirectory.entries)
            try directory.makeFolder(folder)
            return try directory.create(path)
        }
    }

    private mutating func noteFailure(_ failure: DiskFailure) {
        // When another process has removed all entries meanwhile, or this one has no descriptors,
        // the disk has not failed.
        guard !failure.isOfProcess, !failure.isMissing || directory.isGone,
            outage.noteFailure(at: settings.now())
        else { return }
        settings.log(
            "DataLoading: the cache cannot be written (\(failure.words)); "
                + "it tries again every \(Outage.length.components.seconds) s")
    }
}
