// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One reset at a time: whoever asks for another meanwhile waits for the one under way.
///
/// Whoever asks from inside of it, such as a delegate that is told of a log out, does not wait: it
/// would wait for itself. A task that begins inside of it and outlives it asks from outside then.
final class ResetGate: Sendable {
    @TaskLocal private static var entered: [Run] = []

    /// One reset, as those know it that began inside of it.
    private final class Run: Sendable {
        let isOver = Locked(false)
    }

    private enum State: Sendable {
        case open
        case resetting(Run, [CheckedContinuation<Void, Never>])
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
        let run = Run()
        if let present = begin(run) {
            if !Self.entered.contains(where: { $0 === present }) { await join() }
            return
        }
        let entered = Self.entered.filter { !$0.isOver.withLock { $0 } } + [run]
        await Self.$entered.withValue(entered) { await reset() }
        run.isOver.withLock { $0 = true }
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .open }
            if case .resetting(_, let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Begins one, or returns the one that runs.
    private func begin(_ run: Run) -> Run? {
        state.withLock { state in
            if case .resetting(let present, _) = state { return present }
            state = .resetting(run, [])
            return nil
        }
    }

    private func join() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard case .resetting(let run, var waiters) = state else { return true }
                waiters.append(continuation)
                state = .resetting(run, waiters)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
