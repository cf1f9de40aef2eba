// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// Plays a stored response into a load, as a transport would one from the wire.
///
/// A body that is delivered in pieces waits while the load is paused, like any other.
final class StoredTransfer: TransportTask {
    private struct State: Sendable {
        /// The number of bytes that were handed over.
        var position = 0
        var isPaused = false
        var isOver = false
        /// Whether a thread hands pieces over.
        var isPlaying = true
    }

    private let head: ResponseHead
    private let body: Data
    private let pieceLength: Int
    /// Where a transfer that was paused goes on; the caller of `resume` may not be able to.
    private let queue: DispatchQueue
    private let sink: any TransportSink
    private let state = Locked(State())

    init(
        _ head: ResponseHead, _ body: Data, inPieces: Bool, queue: DispatchQueue,
        sink: any TransportSink
    ) {
        self.head = head
        self.body = body
        pieceLength = inPieces ? 65_536 : max(body.count, 1)
        self.queue = queue
        self.sink = sink
    }

    var mayHaveSent: Bool { false }

    /// Hands the head over, and as much of the body as is taken.
    func start() {
        sink.didReceive(head)
        play()
    }

    private func play() {
        while let piece = nextPiece() {
            guard !piece.isEmpty else { return sink.didEnd(TransportReport()) }
            sink.didReceive(piece)
        }
    }

    /// The next piece; empty at the end, nil when this thread is to stop.
    private func nextPiece() -> Data? {
        let range = state.withLock { state -> Range<Int>? in
            guard !state.isOver, !state.isPaused else {
                state.isPlaying = false
                return nil
            }
            let end = min(state.position + pieceLength, body.count)
            defer { state.position = end }
            if state.position == end { state.isOver = true }
            return state.position..<end
        }
        return range.map {
            body[(body.startIndex + $0.lowerBound)..<(body.startIndex + $0.upperBound)]
        }
    }

    func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        sink.didFail(TransportFailure(.cancelled, sent: .nothingWritten))
    }

    func pause() {
        state.withLock { $0.isPaused = true }
    }

    func resume() {
        let mustPlay = state.withLock { state in
            state.isPaused = false
            // A thread that still hands a piece over goes on by itself, so that none overtakes
            // another.
            guard !state.isPlaying, !state.isOver else { return false }
            state.isPlaying = true
            return true
        }
        if mustPlay { queue.async { self.play() } }
    }
}
