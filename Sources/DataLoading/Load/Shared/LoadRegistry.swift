// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// The loads of one loader, which may exist longer than the loader.
final class LoadRegistry: Sendable {
    private struct State: Sendable {
        var loads: [Int: Load] = [:]
        var lastNumber = 0
        /// The number of loads whose outcome is not delivered.
        var live = 0
        var waiters: [Waiter] = []
        var pauses: [ObjectIdentifier: LoadPause] = [:]
    }

    /// Waits for the loads up to a number; later loads do not extend the wait.
    private struct Waiter: Sendable {
        let last: Int
        var live: Int
        let waker: Waker
    }

    private let state = Locked(State())

    /// Returns the number of a new load; loads are numbered in the order in which they are
    /// performed.
    func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.live += 1
            return state.lastNumber
        }
    }

    func add(_ load: Load) {
        state.withLock { $0.loads[load.number] = load }
    }

    func remove(_ load: Load) {
        // The load is released outside the lock.
        _ = state.withLock { $0.loads.removeValue(forKey: load.number) }
    }

    func outcomeWasHandedOver(_ load: Load) {
        let over = state.withLock { state -> [Waiter] in
            state.live -= 1
            for index in state.waiters.indices where load.number <= state.waiters[index].last {
                state.waiters[index].live -= 1
            }
            defer { state.waiters.removeAll { $0.live == 0 } }
            return state.waiters.filter { $0.live == 0 }
        }
        for waiter in over { waiter.waker.wake() }
    }

    /// The loads whose outcome is not taken yet, oldest first.
    var loads: [Load] {
        state.withLock { Array($0.loads.values) }.sorted { $0.number < $1.number }
    }

    func add(_ pause: LoadPause) {
        state.withLock { $0.pauses[ObjectIdentifier(pause)] = pause }
    }

    func remove(_ pause: LoadPause) {
        // The pause is released outside the lock.
        _ = state.withLock { $0.pauses.removeValue(forKey: ObjectIdentifier(pause)) }
    }

    /// The pauses of its tasks between two loads.
    var pauses: [LoadPause] { state.withLock { Array($0.pauses.values) } }

    /// Ends every load, and every pause before another load.
    func endAllLoads(_ error: DataLoaderError) {
        Load.endAll(loads, as: error)
        LoadPause.endAll(pauses, as: error)
    }

    /// Waits until the outcomes of all loads up to now are delivered, or until `deadline`.
    ///
    /// Returns the number of loads whose outcome was not delivered in time.
    func waitForPresentLoads(until deadline: Instant, on timerQueue: TimerQueue) async -> Int {
        let waker = Waker()
        let mustWait = state.withLock { state in
            guard state.live > 0 else { return false }
            state.waiters.append(Waiter(last: state.lastNumber, live: state.live, waker: waker))
            return true
        }
        guard mustWait else { return 0 }
        let entry = timerQueue.schedule(at: deadline, for: waker, tag: 0)
        await waker.wait()
        timerQueue.cancel(entry)
        return state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.waker === waker }) else {
                return 0
            }
            return state.waiters.remove(at: index).live
        }
    }
}
