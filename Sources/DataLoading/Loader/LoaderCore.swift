// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// What a loader shares with its loads, so that they need not keep the loader itself.
final class LoaderCore: Sendable {
    private struct State: Sendable {
        weak var delegate: (any DataLoaderDelegate)?
        weak var loader: DataLoader?
        var exchanges: [Int: Exchange] = [:]
        var lastNumber = 0
        /// How many loads were not handed over yet.
        var live = 0
        var waiters: [Waiter] = []
    }

    /// Waits for the loads up to a number; what is performed later does not keep it waiting.
    private struct Waiter: Sendable {
        let last: Int
        var live: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    let queue: DispatchQueue
    let deliveries: Deliveries<Exchange>
    private let state: Locked<State>

    init(queue: DispatchQueue, delegate: (any DataLoaderDelegate)?) {
        self.queue = queue
        deliveries = Deliveries(on: queue) { $0.loader.handOver($0) }
        state = Locked(State(delegate: delegate))
    }

    var delegate: (any DataLoaderDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// Whom to call, and with which loader; nil when either has gone.
    var listener: (loader: DataLoader, delegate: any DataLoaderDelegate)? {
        state.withLock { state in
            guard let loader = state.loader, let delegate = state.delegate else { return nil }
            return (loader, delegate)
        }
    }

    func bind(_ loader: DataLoader) {
        state.withLock { $0.loader = loader }
    }

    /// A number for another load; loads are numbered in the order in which they were performed.
    func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.live += 1
            return state.lastNumber
        }
    }

    func add(_ exchange: Exchange) {
        state.withLock { $0.exchanges[exchange.number] = exchange }
    }

    func remove(_ exchange: Exchange) {
        // The exchange is let go after the lock.
        _ = state.withLock { $0.exchanges.removeValue(forKey: exchange.number) }
    }

    func outcomeWasHandedOver(_ exchange: Exchange) {
        let over = state.withLock { state -> [Waiter] in
            state.live -= 1
            for index in state.waiters.indices where exchange.number <= state.waiters[index].last {
                state.waiters[index].live -= 1
            }
            defer { state.waiters.removeAll { $0.live == 0 } }
            return state.waiters.filter { $0.live == 0 }
        }
        for waiter in over { waiter.continuation.resume() }
    }

    /// The loads whose outcome nobody has taken yet, oldest first.
    var exchanges: [Exchange] {
        state.withLock { Array($0.exchanges.values) }.sorted { $0.number < $1.number }
    }

    func endAllLoads(_ error: DataLoaderError) {
        Exchange.endAll(exchanges, as: error)
    }

    /// Returns when the outcome of every load that was performed until now was handed over.
    func waitForPresentLoads() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                guard state.live > 0 else { return true }
                state.waiters.append(
                    Waiter(last: state.lastNumber, live: state.live, continuation: continuation))
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }
}
