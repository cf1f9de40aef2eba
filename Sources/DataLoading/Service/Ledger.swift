// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How many loads a service has that are not wholly over, for whoever waits until there are none.
///
/// A load is over when its outcome was handed over and its last socket is closed or idle.
final class Ledger: Sendable {
    private struct State: Sendable {
        var live = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var entries: [Int: Agenda.Entry] = [:]
        var lastWaiter = 0
    }

    private let agenda: Agenda
    private let state = Locked(State())

    init(agenda: Agenda) {
        self.agenda = agenda
    }

    var live: Int { state.withLock { $0.live } }

    func loadBegan() {
        state.withLock { $0.live += 1 }
    }

    func loadEnded() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.live -= 1
            guard state.live == 0, !state.waiters.isEmpty else { return [] }
            for entry in state.entries.values { agenda.cancel(entry) }
            state.entries = [:]
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when no load is left, or when `limit` has passed.
    func waitUntilEmpty(atMost limit: Duration) async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                guard state.live > 0, limit > .zero else { return true }
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = continuation
                state.entries[state.lastWaiter] = agenda.schedule(
                    at: agenda.now + limit, for: self, tag: state.lastWaiter)
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }
}

extension Ledger: Punctual {
    func isDue(_ tag: Int) {
        let waiter = state.withLock { state in
            state.entries[tag] = nil
            return state.waiters.removeValue(forKey: tag)
        }
        waiter?.resume()
    }
}
