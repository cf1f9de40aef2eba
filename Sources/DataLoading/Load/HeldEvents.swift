// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Foundation

/// Buffers an attempt's events until user code has decided about its response.
struct HeldEvents: Sendable {
    enum Event: Sendable {
        case bytes(Data)
        /// Indirect: every attempt has room for it, and hardly any attempt holds events back.
        indirect case end(TransportFailure?)
    }

    private var pieces = FIFO<Data>()
    private var count = 0
    private var end: Event?

    /// Whether the transfer must be paused, because as many bytes are held as fill a `ChunkWindow`.
    private(set) var isFull = false

    /// Whether the attempt has ended.
    var hasEnd: Bool { end != nil }

    mutating func append(_ bytes: Data) {
        pieces.append(bytes) { $0.join(bytes) }
        count += bytes.count
        if count >= ChunkWindow.size { isFull = true }
    }

    mutating func end(with failure: TransportFailure?) {
        end = .end(failure)
    }

    mutating func next() -> Event? {
        pieces.popFirst().map { .bytes($0) } ?? end.take()
    }
}
