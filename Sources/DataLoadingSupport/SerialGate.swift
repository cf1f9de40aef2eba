// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// An asynchronous lock that may be held across `await`; waiters enter in order of arrival.
package final class SerialGate: Sendable {
    private struct State {
        var isTaken = false
        var waiters = FIFO<CheckedContinuation<Void, Never>>()
    }

    private let state = Locked(State())

    package init() {}

    /// Runs `body` when all earlier callers are done.
    package func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        // The next waiter gets the lock at once, so that no later caller overtakes it.
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            if next == nil { state.isTaken = false }
            return next
        }
        next?.resume()
    }
}
