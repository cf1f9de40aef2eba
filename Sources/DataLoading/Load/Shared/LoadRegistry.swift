// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// The loads of one loader, which may exist longer than the loader.
final class LoadRegistry: Sendable {
    private struct State: Sendable {
        /// The loads whose outcome is not taken, by their number in the process.
        var loads: [Int64: Entry] = [:]
        var lastPosition = 0
        /// The number of loads whose outcome is not delivered.
        var live = 0
        var waiters: [Waiter] = []
        var pauses: [ObjectIdentifier: LoadPause] = [:]
    }

    /// A load, and its position among all loads of the loader.
    private struct Entry: Sendable {
        let load: Load
        let position: Int
    }

    /// Waits for the loads up to a position; later loads do not extend the wait.
    private struct Waiter: Sendable {
        let last: Int
        var live: Int
        let waker: Waker
    }

    private let state = Locked(State())

    /// The number of loads that were added.
    var added: Int { state.withLock { $0.lastPosition } }

    func add(_ load: Load) {
        state.withLock { state in
            state.lastPosition += 1
            state.live += 1
            state.loads[load.token.loadNumber] = Entry(load: load, position: state.lastPosition)
        }
    }

    /// Removes a load whose outcome is taken; returns its position, nil when it was not there.
    func remove(_ load: Load) -> Int? {
        // The load is released outside the lock.
        state.withLock { $0.loads.removeValue(forKey: load.token.loadNumber) }?.position
    }

    func outcomeWasHandedOver(_ position: Int) {
        let over = state.withLock { state -> [Waiter] in
            state.live -= 1
            guard !state.waiters.isEmpty else { return [] }
            for index in state.waiters.indices where position <= state.waiters[index].last {
                state.waiters[index].live -= 1
            }
            defer { state.waiters.removeAll { $0.live == 0 } }
            return state.waiters.filter { $0.live == 0 }
        }
        for waiter in over { waiter.waker.wake() }
    }

    /// The loads whose outcome is not taken yet, oldest first.
    var loads: [Load] {
        state.withLock { Array($0.loads.values) }.sorted { $0.position < $1.position }
            .map(\.load)
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
            state.waiters.append(Waiter(last: state.lastPosition, live: state.live, waker: waker))
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
