// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import Dispatch
package import Foundation

/// The body of a stored response.
package enum StoredBody: Sendable {
    case memory(Data)
    /// A body that is too large for that, in an open file.
    case file(StoredFile)

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .memory(let bytes): bytes.count
        case .file(let file): file.count
        }
    }

    /// Its parts; nil in place of one that cannot be read or is not what was stored.
    var pieces: some Sequence<Data?> {
        let count =
            switch self {
            case .memory: 1
            case .file(let file): file.blockCount
            }
        return (0..<count).lazy.map { index in
            switch self {
            case .memory(let bytes): bytes
            case .file(let file): file.block(index)
            }
        }
    }
}

/// A body in an open file; the file stays as it is when another one takes its name.
package final class StoredFile: Sendable {
    /// Where its blocks are read; such a call may block.
    package let queue: DispatchQueue
    /// The number of bytes.
    package let count: Int
    /// The checksum of each block.
    let blocks: [UInt64]
    private let file: OpenFile
    private let offset: Int
    private let openBodies: Locked<Int>
    private let whenBroken: @Sendable () -> Void

    /// Makes it; nil when `openBodies`, the number of such objects, is at its limit.
    init?(
        _ file: OpenFile, _ head: EntryHead, at offset: Int, queue: DispatchQueue,
        openBodies: Locked<Int>, limit: Int, whenBroken: @escaping @Sendable () -> Void
    ) {
        let isAllowed = openBodies.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard isAllowed else { return nil }
        self.queue = queue
        self.file = file
        self.offset = offset
        self.openBodies = openBodies
        self.whenBroken = whenBroken
        count = head.bodyLength
        blocks = head.blocks
    }

    deinit {
        openBodies.withLock { $0 -= 1 }
    }

    /// The length of a block; the last one may be shorter.
    package static let blockLength = EntryHead.blockLength

    /// The number of blocks.
    var blockCount: Int { blocks.count }

    /// Reads a block, and checks it; nil when it is not what was stored.
    package func block(_ index: Int) -> Data? {
        guard blocks.indices.contains(index) else { return nil }
        let start = index * EntryHead.blockLength
        let length = min(EntryHead.blockLength, count - start)
        do throws(DiskFailure) {
            let bytes = try file.read(at: offset + start, count: length)
            if EntryHead.checksum(bytes, index) == blocks[index] { return bytes }
        } catch {
            // The disk has failed, so nothing can be said about the file.
            return nil
        }
        whenBroken()
        return nil
    }
}
