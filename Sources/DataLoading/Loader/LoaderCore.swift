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
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let queue: DispatchQueue
    private let state: Locked<State>

    init(queue: DispatchQueue, delegate: (any DataLoaderDelegate)?) {
        self.queue = queue
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
            return state.lastNumber
        }
    }

    func add(_ exchange: Exchange) {
        state.withLock { state in
            state.exchanges[exchange.number] = exchange
            state.live += 1
        }
    }

    func remove(_ exchange: Exchange) {
        // The exchange is let go after the lock.
        _ = state.withLock { $0.exchanges.removeValue(forKey: exchange.number) }
    }

    func outcomeWasHandedOver() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.live -= 1
            guard state.live == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The loads whose outcome nobody has taken yet, oldest first.
    var exchanges: [Exchange] {
        state.withLock { Array($0.exchanges.values) }.sorted { $0.number < $1.number }
    }

    func endAllLoads(_ error: DataLoaderError) {
        for exchange in exchanges { exchange.cancel(as: error) }
    }

    /// Returns when every outcome was handed over.
    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                guard state.live > 0 else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }
}
