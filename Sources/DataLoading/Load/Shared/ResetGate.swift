// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Runs one reset at a time; further callers wait for the one that runs.
///
/// A caller inside the reset, such as a delegate that is notified of a log-out, does not wait,
/// because it would wait for itself. A task that begins inside the reset and outlives it counts as
/// outside then.
package final class ResetGate: Sendable {
    @TaskLocal private static var entered: [Run] = []

    /// One reset, as seen by the tasks that began inside it.
    final class Run: Sendable {
        fileprivate let isOver = Locked(false)
        fileprivate let left = Locked(LeftBehind())
    }

    private enum State: Sendable {
        case open
        case resetting(Run, [CheckedContinuation<Void, Never>])
    }

    private let state = Locked(State.open)

    package init() {}

    var isResetting: Bool {
        state.withLock { state in
            if case .resetting = state { return true }
            return false
        }
    }

    /// The number of callers that wait for the running reset.
    var waiting: Int {
        state.withLock { state in
            if case .resetting(_, let waiters) = state { return waiters.count }
            return 0
        }
    }

    /// Runs `reset`, or waits for the one that runs.
    package func perform(_ reset: () async -> Void) async {
        _ = await leftBehind {
            await reset()
            return LeftBehind()
        }
    }

    /// Runs `reset`, or waits for the one that runs; returns the work that it left behind.
    ///
    /// A caller inside the running reset gets an empty result.
    func leftBehind(_ reset: () async -> LeftBehind) async -> LeftBehind {
        let run = Run()
        if let present = begin(run) { return await leftBehind(by: present) }
        let entered = Self.entered.filter { !$0.isOver.withLock { $0 } } + [run]
        let left = await Self.$entered.withValue(entered) { await reset() }
        run.left.withLock { $0 = left }
        run.isOver.withLock { $0 = true }
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .open }
            if case .resetting(_, let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume() }
        return left
    }

    /// The running reset.
    var present: Run? {
        state.withLock { state in
            if case .resetting(let run, _) = state { return run }
            return nil
        }
    }

    /// Waits for a reset that was running when the caller asked; returns the work that it left
    /// behind.
    func leftBehind(by run: Run) async -> LeftBehind {
        guard !Self.entered.contains(where: { $0 === run }) else { return LeftBehind() }
        await join(run)
        return run.left.withLock { $0 }
    }

    /// Begins a reset, or returns the running one.
    private func begin(_ run: Run) -> Run? {
        state.withLock { state in
            if case .resetting(let present, _) = state { return present }
            state = .resetting(run, [])
            return nil
        }
    }

    private func join(_ joined: Run) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard case .resetting(let run, var waiters) = state, run === joined else {
                    return true
                }
                waiters.append(continuation)
                state = .resetting(run, waiters)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
