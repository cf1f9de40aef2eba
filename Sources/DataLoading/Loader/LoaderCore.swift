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
        let waker: Waker
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
        // Decided outside the lock: a reference that was just read may be the last one by now, and
        // the loader's `deinit` takes this lock.
        let (loader, delegate) = state.withLock { ($0.loader, $0.delegate) }
        guard let loader, let delegate else { return nil }
        return (loader, delegate)
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
        for waiter in over { waiter.waker.wake() }
    }

    /// The loads whose outcome nobody has taken yet, oldest first.
    var exchanges: [Exchange] {
        state.withLock { Array($0.exchanges.values) }.sorted { $0.number < $1.number }
    }

    func endAllLoads(_ error: DataLoaderError) {
        Exchange.endAll(exchanges, as: error)
    }

    /// Returns when the outcome of every load that was performed until now was handed over, or at
    /// `deadline`; returns how many were not.
    func waitForPresentLoads(until deadline: Instant, on agenda: Agenda) async -> Int {
        let waker = Waker()
        let mustWait = state.withLock { state in
            guard state.live > 0 else { return false }
            state.waiters.append(Waiter(last: state.lastNumber, live: state.live, waker: waker))
            return true
        }
        guard mustWait else { return 0 }
        let entry = agenda.schedule(at: deadline, for: waker, tag: 0)
        await waker.wait()
        agenda.cancel(entry)
        return state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.waker === waker }) else {
                return 0
            }
            return state.waiters.remove(at: index).live
        }
    }
}
