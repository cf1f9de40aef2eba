// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// The undelivered part of a body in chunks, and the window that limits it: a pure value.
struct ChunkWindow: Sendable {
    /// The number of bytes that may wait before the transfer is paused: 256 KiB.
    static let size = 262_144

    /// An item that is delivered before the outcome.
    enum Item: Sendable {
        case initial(DataLoaderResponse)
        case chunk(Data)
    }

    private var items = FIFO<Item>()
    private var held = 0
    private var isClosed = false
    /// Whether the transfer must be paused: from a full window until half of it is free.
    private(set) var isFull = false

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ response: DataLoaderResponse) {
        if !isClosed { items.append(.initial(response)) }
    }

    /// Appends a chunk; returns true, at every call, while the transfer must be paused.
    mutating func append(_ chunk: Data) -> Bool {
        guard !isClosed else { return false }
        items.append(.chunk(chunk)) { last in
            guard case .chunk(var bytes) = last else { return false }
            // The chunk is moved out of the item, so that its bytes are not copied.
            last = .chunk(Data())
            defer { last = .chunk(bytes) }
            return bytes.join(chunk)
        }
        held += chunk.count
        if held >= Self.size { isFull = true }
        return isFull
    }

    /// Takes the next item; its bytes count as undelivered until `delivered` is called.
    mutating func takeFirst() -> Item? { items.popFirst() }

    /// Frees the room of delivered bytes; returns true when the transfer may be resumed.
    mutating func delivered(_ count: Int) -> Bool {
        held -= count
        guard isFull, held <= Self.size / 2 else { return false }
        isFull = false
        return true
    }

    /// Drops the undelivered items, and all that come later.
    ///
    /// Returns the dropped items, so that the caller releases them outside the lock: the transport
    /// may have given their bytes a deallocator.
    mutating func close() -> FIFO<Item> {
        defer {
            items = FIFO()
            isClosed = true
            isFull = false
        }
        return items
    }
}
