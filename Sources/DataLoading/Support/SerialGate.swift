// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One at a time, in the order of arrival: a lock that may be held across `await`.
final class SerialGate: Sendable {
    private struct State {
        var isTaken = false
        var waiters = FIFO<CheckedContinuation<Void, Never>>()
    }

    private let state = Locked(State())

    /// Runs `body` when everybody who came before is through.
    func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
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
        // The next one has it at once: nobody who comes now gets in between.
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            if next == nil { state.isTaken = false }
            return next
        }
        next?.resume()
    }
}
