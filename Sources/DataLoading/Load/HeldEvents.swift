// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Foundation

/// Buffers an attempt's events until user code has decided about its response.
struct HeldEvents: Sendable {
    enum Event: Sendable {
        case bytes(Data)
        case end(TransportFailure?)
    }

    private var pieces = FIFO<Data>()
    private var count = 0
    private var end: TransportFailure??

    /// Whether the transfer must be paused, because as many bytes are held as fill a `ChunkWindow`.
    private(set) var isFull = false

    mutating func append(_ bytes: Data) {
        pieces.append(bytes) { $0.join(bytes) }
        count += bytes.count
        if count >= ChunkWindow.size { isFull = true }
    }

    mutating func end(with failure: TransportFailure?) {
        end = .some(failure)
    }

    mutating func next() -> Event? {
        if let bytes = pieces.popFirst() { return .bytes(bytes) }
        return end.take().map { .end($0) }
    }
}
