// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The undelivered part of a body in chunks, and the window that it may fill: pure.
struct ChunkWindow: Sendable {
    /// How many bytes may wait before the transfer is paused: 256 KiB.
    static let size = 262_144

    /// Something to deliver before the outcome.
    enum Item: Sendable {
        case initial(DataLoaderResponse)
        case chunk(Data)
    }

    private var items = FIFO<Item>()
    private var held = 0
    private var isClosed = false
    /// Whether the transfer is to stand still: from the full window until half of it is delivered.
    private(set) var isFull = false

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ response: DataLoaderResponse) {
        if !isClosed { items.append(.initial(response)) }
    }

    /// Keeps a chunk; true, each time anew, while the transfer is to be paused.
    mutating func append(_ chunk: Data) -> Bool {
        guard !isClosed else { return false }
        items.append(.chunk(chunk)) { last in
            guard case .chunk(var bytes) = last else { return false }
            // Taken out, so that the bytes are not copied.
            last = .chunk(Data())
            defer { last = .chunk(bytes) }
            return bytes.join(chunk)
        }
        held += chunk.count
        if held >= Self.size { isFull = true }
        return isFull
    }

    /// Takes the next item; its bytes count as undelivered until `delivered` says otherwise.
    mutating func takeFirst() -> Item? { items.popFirst() }

    /// Gives room back; true when the transfer may go on.
    mutating func delivered(_ count: Int) -> Bool {
        held -= count
        guard isFull, held <= Self.size / 2 else { return false }
        isFull = false
        return true
    }

    /// Forgets what was not delivered, and whatever comes late.
    ///
    /// Returns what was forgotten, to be released after the lock: bytes may have a deallocator of the
    /// transport's.
    mutating func close() -> FIFO<Item> {
        defer {
            items = FIFO()
            isClosed = true
            isFull = false
        }
        return items
    }
}
