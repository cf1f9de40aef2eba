// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// Holds one load's chunks until a task asks for them.
final class ChunkEnd: LoadEnd {
    fileprivate struct State: Sendable {
        var window = ChunkWindow()
        var response: DataLoaderResponse?
        /// The response of the load that has ended.
        var ended: DataLoaderResponse?
        /// The outcome of the load; the chunks in the window come before it.
        var outcome: Result<Void, DataLoaderError>?
        /// Whether the reader dropped pieces: a body without them must not look complete.
        var hasDropped = false
        /// The tasks that wait for a change; several only when several tasks read.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let queue: DispatchQueue
    let delivery = BodyDelivery.chunks
    let endsWithLoader = false
    private let state = Locked(State())

    init(queue: DispatchQueue) {
        self.queue = queue
    }

    func response() async throws -> DataLoaderResponse {
        while true {
            let (response, outcome) = state.withLock { ($0.response, $0.outcome) }
            if let response { return response }
            try outcome?.get()
            await change { $0.response != nil || $0.outcome != nil }
        }
    }

    func next(from load: Load) async throws -> Data? {
        while true {
            let (chunk, opens, outcome) = state.withLock { $0.takeChunk() }
            if opens { load.handle(.windowHasOpened) }
            if let chunk { return chunk }
            if let outcome {
                try outcome.get()
                return nil
            }
            await change { !$0.window.isEmpty || $0.outcome != nil }
        }
    }

    func askForChunkSupport(_ load: Load, _ answer: @escaping @Sendable (Bool) -> Void) {
        queue.async { answer(true) }
    }

    func didReceiveInitial(_ response: DataLoaderResponse, from load: Load, by caller: Caller) {
        update { state in
            defer { state.response = response }
            return state.response
        }
    }

    func didReceive(_ chunk: Data, from load: Load, by caller: Caller) -> Bool {
        update { $0.window.append(chunk) }
    }

    var isFull: Bool { state.withLock { $0.window.isFull } }

    func dropPending() {
        update { $0.window.close() }
    }

    /// Drops the unread chunks, because the reader has stopped; the load may have ended already.
    func cancel() {
        update { state in
            state.hasDropped = state.hasDropped || !state.window.isEmpty
            if case .success = state.outcome, state.hasDropped {
                state.outcome = .failure(state.dropped)
            }
            return state.window.close()
        }
    }

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        // The outcome is taken before the last chunks are read, because the reader may never read
        // them.
        load.handOver { response in
            update { state in
                state.ended = response
                let error = response.error ?? (state.hasDropped ? state.dropped : nil)
                state.outcome = error.map { .failure($0) } ?? .success(())
            }
        }
    }

    /// Changes the state, wakes the waiting tasks and returns the result of the change.
    ///
    /// The caller releases the result outside the lock.
    @discardableResult private func update<Result: Sendable>(
        _ change: (inout State) -> Result
    ) -> Result {
        let (result, waiters) = state.withLock { state in
            let result = change(&state)
            defer { state.waiters = [] }
            return (result, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return result
    }

    private func change(until isThere: (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThereNow = state.withLock { state in
                if isThere(state) { return true }
                state.waiters.append(continuation)
                return false
            }
            if isThereNow { continuation.resume() }
        }
    }
}

extension ChunkEnd.State {
    /// The error of a body of which the reader dropped pieces.
    fileprivate var dropped: DataLoaderError {
        ended.map { DataLoaderError.cancelled.ending($0.request, $0.metrics) } ?? .cancelled
    }

    /// Returns the next chunk, whether the transfer may be resumed, and the outcome, if there is
    /// one.
    fileprivate mutating func takeChunk() -> (Data?, Bool, Result<Void, DataLoaderError>?) {
        guard case .chunk(let data) = window.takeFirst() else { return (nil, false, outcome) }
        return (data, window.delivered(data.count), outcome)
    }
}
