// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One reset at a time: whoever asks for another meanwhile waits for the one under way.
///
/// Whoever asks from inside of it, such as a delegate that is told of a log out, does not wait: it
/// would wait for itself.
final class ResetGate: Sendable {
    @TaskLocal private static var entered: Set<ObjectIdentifier> = []

    private enum State: Sendable {
        case open
        case resetting([CheckedContinuation<Void, Never>])
    }

    private let state = Locked(State.open)

    var isResetting: Bool {
        state.withLock { state in
            if case .resetting = state { return true }
            return false
        }
    }

    /// Runs `reset`, or waits for the one that runs.
    func perform(_ reset: () async -> Void) async {
        let gate = ObjectIdentifier(self)
        guard !Self.entered.contains(gate) else { return }
        guard begin() else { return await join() }
        await Self.$entered.withValue(Self.entered.union([gate])) { await reset() }
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .open }
            if case .resetting(let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume() }
    }

    private func begin() -> Bool {
        state.withLock { state in
            if case .resetting = state { return false }
            state = .resetting([])
            return true
        }
    }

    private func join() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard case .resetting(var waiters) = state else { return true }
                waiters.append(continuation)
                state = .resetting(waiters)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
