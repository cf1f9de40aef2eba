// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Foundation

/// Reads the chunks of one load for a task.
///
/// It starts the load at the first read, and cancels it when it is released.
final class ChunkReader: Sendable {
    private struct State: Sendable {
        var stage: Stage
        /// Retained until the load has ended.
        var core: LoaderCore?
    }

    private enum Stage: Sendable {
        case unstarted(LoaderCore)
        /// One task is starting the load; the continuations are those of other tasks that wait for
        /// it.
        case starting([CheckedContinuation<Void, Never>])
        case started(Load, ChunkEnd)
    }

    private enum Turn: Sendable {
        case start(LoaderCore)
        case wait
        case read(Load, ChunkEnd)
    }

    private let request: DataLoaderRequest
    private let state: Locked<State>

    init(request: DataLoaderRequest, core: LoaderCore) {
        self.request = request
        state = Locked(State(stage: .unstarted(core), core: core))
    }

    deinit {
        if case .started(let load, let chunks) = state.withLock({ $0.stage }) {
            cancel(load, chunks)
        }
    }

    func response() async throws -> DataLoaderResponse {
        let (load, chunks) = try await start()
        return try await withTaskCancellationHandler {
            try await chunks.response()
        } onCancel: {
            cancel(load, chunks)
        }
    }

    func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Data? {
        let (load, chunks) = try await start()
        let chunk: Data?
        do {
            chunk = try await withTaskCancellationHandler {
                // A closure stays on an actor only if it captures it.
                _ = actor
                return try await chunks.next(from: load)
            } onCancel: {
                cancel(load, chunks)
            }
        } catch {
            releaseCore()
            throw error
        }
        if chunk == nil { releaseCore() }
        return chunk
    }

    /// Starts the load at the first call, and returns the same load at later calls.
    ///
    /// The first caller reserves the start before it starts the load. Otherwise two tasks could
    /// start it twice, and send the request twice.
    private func start() async throws -> (Load, ChunkEnd) {
        while true {
            switch turn() {
            case .read(let load, let chunks):
                return (load, chunks)
            case .wait:
                await started()
            case .start(let core):
                guard !Task.isCancelled else {
                    settle(.unstarted(core))
                    throw DataLoaderError.cancelled.ending(request)
                }
                let chunks = ChunkEnd(queue: core.queue)
                let load = core.start(request, chunks)
                settle(.started(load, chunks))
                return (load, chunks)
            }
        }
    }

    private func turn() -> Turn {
        state.withLock { state in
            switch state.stage {
            case .started(let load, let chunks): return .read(load, chunks)
            case .starting: return .wait
            case .unstarted(let core):
                state.stage = .starting([])
                return .start(core)
            }
        }
    }

    /// Waits until another task has started the load or has failed to.
    private func started() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                guard case .starting(let waiters) = state.stage else { return true }
                state.stage = .starting(waiters + [continuation])
                return false
            }
            if isSettled { continuation.resume() }
        }
    }

    private func settle(_ stage: Stage) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state.stage = stage }
            if case .starting(let waiters) = state.stage { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume() }
    }

    private func cancel(_ load: Load, _ chunks: ChunkEnd) {
        load.cancel()
        // The load may have its outcome already, while chunks are unread.
        chunks.cancel()
    }

    private func releaseCore() {
        // Releasing the core may deinitialize it, which must not happen under the lock.
        _ = state.withLock { $0.core.take() }
    }
}
