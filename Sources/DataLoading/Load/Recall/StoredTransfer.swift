// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// Plays a stored response into a load, as a transport would one from the wire.
///
/// A body that is delivered in pieces waits while the load is paused, like any other. One that is in
/// a file is read in pieces on the queue of the file, and each piece is checked before it is handed
/// over.
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
    private let body: StoredBody
    private let pieceLength: Int
    /// Where a paused transfer is resumed; the thread that calls `resume` may not be able to.
    private let queue: DispatchQueue
    private let sink: any TransportSink
    private let state = Locked(State())

    init(
        _ head: ResponseHead, _ body: StoredBody, inPieces: Bool, queue: DispatchQueue,
        sink: any TransportSink
    ) {
        self.head = head
        self.body = body
        switch body {
        case .memory(let bytes):
            pieceLength = inPieces ? 65_536 : max(bytes.count, 1)
            self.queue = queue
        case .file(let file):
            pieceLength = StoredFile.blockLength
            self.queue = file.queue
        }
        self.sink = sink
    }

    var mayHaveSent: Bool { false }

    /// Hands the head over, and as much of the body as is taken; of a body in a file later, because
    /// reading may block.
    func start() {
        switch body {
        case .memory(let bytes):
            sink.didReceive(head)
            play(bytes)
        case .file(let file): queue.async { self.play(file) }
        }
    }

    private func play(_ bytes: Data) {
        while let range = nextRange() {
            guard !range.isEmpty else { return sink.didEnd(TransportReport()) }
            let start = bytes.startIndex + range.lowerBound
            sink.didReceive(bytes[start..<(start + range.count)])
        }
    }

    /// Hands one block over, and continues after the blocks of other transfers.
    private func play(_ file: StoredFile) {
        guard let range = nextRange() else { return }
        guard !range.isEmpty else { return sink.didEnd(TransportReport()) }
        guard let block = file.block(range.lowerBound / StoredFile.blockLength) else {
            return fail(.transport(reason: "the stored body cannot be read"))
        }
        guard !state.withLock({ $0.isOver }) else { return }
        // The first block is there: the load may deliver the head.
        if range.lowerBound == 0 { sink.didReceive(head) }
        sink.didReceive(block)
        queue.async { self.play(file) }
    }

    /// The next piece; empty at the end, nil when this thread is to stop.
    private func nextRange() -> Range<Int>? {
        state.withLock { state in
            guard !state.isOver, !state.isPaused else {
                state.isPlaying = false
                return nil
            }
            let end = min(state.position + pieceLength, body.count)
            defer { state.position = end }
            if state.position == end { state.isOver = true }
            return state.position..<end
        }
    }

    func cancel() {
        fail(.cancelled)
    }

    private func fail(_ error: DataLoaderError) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        sink.didFail(TransportFailure(error, sent: .nothingWritten))
    }

    func pause() {
        state.withLock { $0.isPaused = true }
    }

    func resume() {
        let mustPlay = state.withLock { state in
            state.isPaused = false
            // A thread that still hands a piece over continues by itself, so that none
            // overtakes another.
            guard !state.isPlaying, !state.isOver else { return false }
            state.isPlaying = true
            return true
        }
        guard mustPlay else { return }
        queue.async {
            switch self.body {
            case .memory(let bytes): self.play(bytes)
            case .file(let file): self.play(file)
            }
        }
    }
}
