// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// One sleep on a manual clock, ended by its instant or by a cancelled task.
final class ManualSleep: Sendable {
    private enum State {
        case awake
        case asleep(CheckedContinuation<Bool, Never>)
        case ended
    }

    private let clock: ManualClock
    private let identifier: UInt64
    private let state = Locked(State.awake)

    init(clock: ManualClock) {
        self.clock = clock
        identifier = clock.makeIdentifier()
    }

    /// Ends the continuation when the instant has come or the task is cancelled: true when the task
    /// has waited, false when it was cancelled before.
    func begin(_ continuation: CheckedContinuation<Bool, Never>, until deadline: Instant) {
        let hasEnded = state.withLock { state in
            guard case .awake = state else { return true }
            state = .asleep(continuation)
            clock.set(identifier, for: deadline) { self.end() }
            return false
        }
        if hasEnded { continuation.resume(returning: false) }
    }

    func end() {
        let continuation: CheckedContinuation<Bool, Never>? = state.withLock { state in
            defer { state = .ended }
            guard case .asleep(let continuation) = state else { return nil }
            return continuation
        }
        clock.remove(identifier)
        guard let continuation else { return }
        clock.noteWork(1)
        continuation.resume(returning: true)
    }
}
