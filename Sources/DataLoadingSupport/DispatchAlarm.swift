// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// An alarm on a dispatch timer with a queue of its own.
///
/// A dispatch timer does not count the time that the machine sleeps; `Instant` does. The alarm
/// therefore divides a wait. After a sleep it fires late by at most a second, or by a sixtieth of
/// the wait.
final class DispatchAlarm: Alarm {
    private struct State {
        let timer: any DispatchSourceTimer
        var instant: Instant?
    }

    private static let shortestPart = Duration.seconds(1)
    private let now: @Sendable () -> Instant
    private let state: Locked<State>

    init(now: @escaping @Sendable () -> Instant, handler: @escaping @Sendable () -> Void) {
        self.now = now
        let queue = DispatchQueue(label: "DataLoading.alarm", qos: .userInitiated)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let state = Locked(State(timer: timer))
        self.state = state
        state.withLock { locked in
            locked.timer.setEventHandler {
                if Self.isDue(state, at: now()) { handler() }
            }
            locked.timer.schedule(deadline: .distantFuture)
            locked.timer.activate()
        }
    }

    deinit {
        cancel()
    }

    func set(for instant: Instant) {
        let wait = instant - now()
        state.withLock { state in
            state.instant = instant
            Self.arm(state.timer, for: wait)
        }
    }

    func cancel() {
        // The handler keeps the state, and is released with the timer.
        state.withLock { $0.timer.cancel() }
    }

    /// Whether the alarm fires now; otherwise starts the next part of the wait.
    private static func isDue(_ state: Locked<State>, at now: Instant) -> Bool {
        state.withLock { state in
            guard let instant = state.instant else { return false }
            guard instant > now else {
                state.instant = nil
                return true
            }
            arm(state.timer, for: instant - now)
            return false
        }
    }

    private static func arm(_ timer: any DispatchSourceTimer, for wait: Duration) {
        let part = min(max(.zero, wait), max(shortestPart, wait / 60))
        timer.schedule(
            deadline: .now() + .nanoseconds(Int(part.wholeNanoseconds)), leeway: .nanoseconds(0))
    }
}
