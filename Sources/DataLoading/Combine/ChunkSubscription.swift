// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Combine)
    import Combine
    import DataLoadingSupport
    import DataLoadingTransport
    import Dispatch
    import Foundation

    /// Starts a load at the first demand, and gives its pieces to one subscriber.
    ///
    /// It gives them in blocks of the loader's queue, one block at a time, also on a concurrent
    /// queue.
    final class ChunkSubscription: LoadEnd, Subscription {
        private enum Stage: Sendable {
            case unstarted
            /// The load runs; the token is nil until the loader has returned it.
            case loading(CancellationToken?)
            /// The subscription was cancelled or completed.
            case over
        }

        private struct State: Sendable {
            var stage = Stage.unstarted
            /// Nil once it was completed or has cancelled.
            var downstream: Downstream<Data, DataLoaderError>?
            var chunks = DemandedChunks()
            /// Whether a block that gives pieces is on the queue.
            var isScheduled = false
        }

        let queue: DispatchQueue
        let delivery = BodyDelivery.chunks
        private let streamed: DataLoaderRequest
        private weak let loader: DataLoader?
        private let state: Locked<State>
        /// A block gives so many pieces at most, so that other loads on the queue get their turn.
        private static let maxInARow = 16

        init(
            _ downstream: Downstream<Data, DataLoaderError>, to request: DataLoaderRequest,
            of loader: DataLoader?, queue: DispatchQueue
        ) {
            self.streamed = request
            self.loader = loader
            self.queue = queue
            state = Locked(State(downstream: downstream))
        }

        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            let isFirst = change { state in
                state.chunks.add(demand)
                guard case .unstarted = state.stage else { return false }
                state.stage = .loading(nil)
                return true
            }
            if isFirst { start() }
        }

        func cancel() {
            // What it held is released outside the lock: it is the user's.
            let (before, _, _) = state.withLock { state in
                defer {
                    state.stage = .over
                    state.downstream = nil
                }
                return (state.stage, state.downstream, state.chunks.close())
            }
            if case .loading(let token?) = before { token.cancel() }
        }

        private func start() {
            guard let loader else {
                return change { $0.chunks.keep(DataLoaderError.cancelled.ending(streamed)) }
            }
            let token = loader.core.start(streamed, self).token
            let isOver = state.withLock { state in
                guard case .loading = state.stage else { return true }
                state.stage = .loading(token)
                return false
            }
            if isOver { token.cancel() }
        }

        func askForChunkSupport(_ load: Load, _ answer: @escaping @Sendable (Bool) -> Void) {
            queue.async { answer(true) }
        }

        func didReceiveInitial(_ response: DataLoaderResponse, from load: Load, by caller: Caller) {
            change { $0.chunks.receive(response, from: load) }
        }

        func didReceive(_ chunk: Data, from load: Load, by caller: Caller) -> Bool {
            change { $0.chunks.receive(chunk) }
        }

        var isFull: Bool { state.withLock { $0.chunks.isFull } }

        func dropPending() {
            _ = state.withLock { $0.chunks.close() }
        }

        func outcomeIsReady(_ load: Load, by caller: Caller) {
            change { $0.chunks.outcomeIsReady(load) }
        }

        /// Changes the state, and schedules a block for what follows from that.
        private func change<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
            let (result, schedules) = state.withLock { state in
                let result = change(&state)
                defer { state.isScheduled = true }
                return (result, !state.isScheduled)
            }
            if schedules { queue.async { self.drain() } }
            return result
        }

        private func drain() {
            for _ in 0..<Self.maxInARow {
                let (step, downstream) = state.withLock { state in
                    let step = state.chunks.next()
                    if case .rest = step { state.isScheduled = false }
                    return (step, state.downstream)
                }
                switch step {
                case .give(let chunk):
                    // Without a subscriber the load was cancelled.
                    guard let downstream else { continue }
                    let more = downstream.receive(chunk)
                    let load = state.withLock { $0.chunks.gave(chunk, more) }
                    load?.handle(.windowHasOpened)
                case .take(let load):
                    load.handOver { response in
                        state.withLock { $0.chunks.keep($0.chunks.error(of: response)) }
                    }
                case .finish(let load):
                    load.handOver { response in
                        complete(state.withLock { $0.chunks.error(of: response) })
                    }
                case .complete(let error): complete(error)
                case .refuse(let error):
                    if case .loading(let token?) = complete(error) { token.cancel() }
                case .rest: return
                }
            }
            queue.async { self.drain() }
        }

        /// Completes the subscription, unless it was cancelled; returns the stage that this ended.
        ///
        /// A load whose token comes later finds that it is over, and is cancelled there.
        @discardableResult private func complete(_ error: DataLoaderError?) -> Stage {
            let (downstream, before) = state.withLock { state in
                defer { state.stage = .over }
                return (state.downstream.take(), state.stage)
            }
            downstream?.complete(error.map { .failure($0) } ?? .finished)
            return before
        }
    }
#endif
