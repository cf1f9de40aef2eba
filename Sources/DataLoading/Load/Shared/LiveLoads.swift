// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Counts the live loads of a service and waits until there are none.
///
/// A load is live until its outcome is delivered and its attempts have ended, with their sockets
/// closed or idle.
package final class LiveLoads: Sendable {
    private struct State: Sendable {
        var live = 0
        /// Whether loads that begin now are refused, and not waited for.
        var isClosed = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var entries: [Int: TimerQueue.Entry] = [:]
        var lastWaiter = 0
    }

    private let timerQueue: TimerQueue
    private let state = Locked(State())

    init(timerQueue: TimerQueue) {
        self.timerQueue = timerQueue
    }

    var live: Int { state.withLock { $0.live } }

    /// Counts a load or what lives as long; false when it is not waited for, and has no end here.
    package func loadBegan() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.live += 1
            return true
        }
    }

    /// Counts no loads from now on: each of them is refused, and its owner may perform another one
    /// for each that ends.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    package func loadEnded() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.live -= 1
            guard state.live == 0, !state.waiters.isEmpty else { return [] }
            for entry in state.entries.values { timerQueue.cancel(entry) }
            state.entries = [:]
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when no load is live, or after `limit`.
    func waitUntilEmpty(atMost limit: Duration) async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                guard state.live > 0, limit > .zero else { return true }
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = continuation
                state.entries[state.lastWaiter] = timerQueue.schedule(
                    at: timerQueue.now + limit, for: self, tag: state.lastWaiter)
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }
}

extension LiveLoads: TimerTarget {
    func timerFired(_ tag: Int) {
        let waiter = state.withLock { state in
            state.entries[tag] = nil
            return state.waiters.removeValue(forKey: tag)
        }
        waiter?.resume()
    }
}
