// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads one load's chunks for a task: starts it when asked first, cancels it when dropped.
final class ChunkReader: Sendable {
    private struct State: Sendable {
        var load: Load
        /// Kept until the load is over, so that reading keeps its loader as awaiting a response does.
        var loader: DataLoader?
    }

    private enum Load: Sendable {
        case unstarted(DataLoader)
        /// One task starts the load; the others wait for that.
        case starting([CheckedContinuation<Void, Never>])
        case started(Exchange, PulledChunks)
    }

    private enum Turn: Sendable {
        case start(DataLoader)
        case wait
        case read(Exchange, PulledChunks)
    }

    private let request: DataLoaderRequest
    private let state: Locked<State>

    init(request: DataLoaderRequest, loader: DataLoader) {
        self.request = request
        state = Locked(State(load: .unstarted(loader), loader: loader))
    }

    deinit {
        if case .started(let exchange, _) = state.withLock({ $0.load }) { exchange.cancel() }
    }

    func response() async throws -> DataLoaderResponse {
        let (exchange, chunks) = try await start()
        return try await withTaskCancellationHandler {
            try await chunks.response()
        } onCancel: {
            exchange.cancel()
        }
    }

    func next() async throws -> Data? {
        let (exchange, chunks) = try await start()
        let chunk: Data?
        do {
            chunk = try await withTaskCancellationHandler {
                try await chunks.next(from: exchange)
            } onCancel: {
                exchange.cancel()
            }
        } catch {
            letLoaderGo()
            throw error
        }
        if chunk == nil { letLoaderGo() }
        return chunk
    }

    /// Starts the load, once, whoever asks first.
    ///
    /// The start is reserved before it is made: a load that were started twice could be sent twice.
    private func start() async throws -> (Exchange, PulledChunks) {
        while true {
            switch turn() {
            case .read(let exchange, let chunks):
                return (exchange, chunks)
            case .wait:
                await started()
            case .start(let loader):
                guard !Task.isCancelled else {
                    settle(.unstarted(loader))
                    throw DataLoaderError.cancelled
                }
                let chunks = PulledChunks(queue: loader.queue)
                let exchange = loader.start(request, chunks)
                settle(.started(exchange, chunks))
                return (exchange, chunks)
            }
        }
    }

    private func turn() -> Turn {
        state.withLock { state in
            switch state.load {
            case .started(let exchange, let chunks): return .read(exchange, chunks)
            case .starting: return .wait
            case .unstarted(let loader):
                state.load = .starting([])
                return .start(loader)
            }
        }
    }

    /// Waits until another task has started the load, or has not.
    private func started() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                guard case .starting(let waiters) = state.load else { return true }
                state.load = .starting(waiters + [continuation])
                return false
            }
            if isSettled { continuation.resume() }
        }
    }

    private func settle(_ load: Load) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state.load = load }
            if case .starting(let waiters) = state.load { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume() }
    }

    private func letLoaderGo() {
        // The loader may end with it, which is not to happen under the lock.
        _ = state.withLock { $0.loader.take() }
    }
}
