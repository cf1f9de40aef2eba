// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Holds one load's chunks until a task asks for them.
final class PulledChunks: Recipient {
    fileprivate struct State: Sendable {
        var window = ChunkWindow()
        var response: DataLoaderResponse?
        /// How the load ended; what is in the window comes first.
        var outcome: Result<Void, DataLoaderError>?
        /// Whether chunks were dropped: a body that lost some must not look whole.
        var hasLost = false
        /// Who waits for something to change; several only when several tasks read.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let queue: DispatchQueue
    let delivery = Delivery.chunks
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

    func next(from exchange: Exchange) async throws -> Data? {
        while true {
            let (chunk, opens, outcome) = state.withLock { $0.takeChunk() }
            if opens { exchange.windowHasOpened() }
            if let chunk { return chunk }
            if let outcome {
                try outcome.get()
                return nil
            }
            await change { !$0.window.isEmpty || $0.outcome != nil }
        }
    }

    func askForChunkSupport(
        _ exchange: Exchange, _ answer: @escaping @Sendable (Bool) -> Void
    ) {
        queue.async { answer(true) }
    }

    func didReceiveInitial(_ response: DataLoaderResponse, from exchange: Exchange) {
        update { state in
            defer { state.response = response }
            return state.response
        }
    }

    func didReceive(_ chunk: Data, from exchange: Exchange) -> Bool {
        update { $0.window.append(chunk) }
    }

    var isFull: Bool { state.withLock { $0.window.isFull } }

    func dropPending() {
        update { state in
            if !state.window.isEmpty { state.lose() }
            return state.window.close()
        }
    }

    func outcomeIsReady(_ exchange: Exchange) {
        // Taken before the last chunks are read: whether they ever are is the reader's affair.
        guard let response = exchange.takeOutcome() else { return }
        update { state in
            state.outcome = response.error.map { .failure($0) } ?? .success(())
            if state.hasLost { state.lose() }
        }
        exchange.outcomeWasHandedOver()
    }

    /// Changes the state and wakes those who wait; what the change returns goes after the lock.
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

extension PulledChunks.State {
    /// Notes that chunks are gone, which an outcome that is a success must not hide.
    fileprivate mutating func lose() {
        hasLost = true
        if case .success = outcome { outcome = .failure(.cancelled) }
    }

    /// The next chunk, whether the transfer may go on, and how the load ended if it has.
    fileprivate mutating func takeChunk() -> (Data?, Bool, Result<Void, DataLoaderError>?) {
        guard case .chunk(let data) = window.takeFirst() else { return (nil, false, outcome) }
        return (data, window.delivered(data.count), outcome)
    }
}
