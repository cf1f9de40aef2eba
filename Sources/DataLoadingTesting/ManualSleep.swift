// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// One sleep on a manual clock: ended by its instant or by a cancelled task, whichever comes first.
final class ManualSleep: Sendable {
    private enum State {
        case awake
        case asleep(CheckedContinuation<Void, Never>)
        case ended
    }

    private let clock: ManualClock
    private let identifier: UInt64
    private let state = Locked(State.awake)

    init(clock: ManualClock) {
        self.clock = clock
        identifier = clock.makeIdentifier()
    }

    func begin(_ continuation: CheckedContinuation<Void, Never>, until deadline: Instant) {
        let hasEnded = state.withLock { state in
            guard case .awake = state else { return true }
            state = .asleep(continuation)
            clock.set(identifier, for: deadline) { self.end() }
            return false
        }
        if hasEnded { continuation.resume() }
    }

    func end() {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .ended }
            guard case .asleep(let continuation) = state else { return nil }
            return continuation
        }
        clock.remove(identifier)
        continuation?.resume()
    }
}
