// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A timer queue: calls back any number of targets at their instants, with one alarm.
///
/// The earliest entry is known, and the alarm is set for that entry. Waiting loads
/// therefore cost no thread and no timer. An alarm that fires too early, because its entry was
/// cancelled, is set again. That is cheaper than moving it each time a load ends before its
/// deadline.
package final class TimerQueue: Sendable {
    /// The handle of a scheduled call; `cancel` takes it.
    package typealias Entry = TimedElements<ScheduledCall>.Handle

    /// The target of a call, and the tag that is passed to it.
    package struct ScheduledCall: Sendable {
        let target: any TimerTarget
        let tag: Int
    }

    private struct State: Sendable {
        var calls = TimedElements<ScheduledCall>()
        var alarm: (any Alarm)?
        var armedFor = Instant.distantFuture

        /// Sets the alarm when the earliest entry comes before the instant it is set for.
        mutating func arm() {
            if let earliest = calls.earliest { arm(for: earliest) }
        }

        /// Sets the alarm for an entry that comes before the instant it is set for.
        mutating func arm(for instant: Instant) {
            guard instant < armedFor else { return }
            armedFor = instant
            alarm?.set(for: instant)
        }

        /// Sets the alarm for the earliest entry, or unsets it without one.
        mutating func armExactly() {
            guard let earliest = calls.earliest else {
                armedFor = .distantFuture
                alarm?.unset()
                return
            }
            guard earliest != armedFor else { return }
            armedFor = earliest
            alarm?.set(for: earliest)
        }
    }

    private let timekeeper: any Timekeeper
    private let hasExactAlarms: Bool
    private let state = Locked(State())

    package init(timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        hasExactAlarms = timekeeper.hasExactAlarms
        // The alarm keeps the state, not the timer queue: a weak reference would slow down every
        // other reference.
        let alarm = timekeeper.makeAlarm { [state] in Self.wake(state, timekeeper) }
        state.withLock { $0.alarm = alarm }
    }

    deinit {
        state.withLock { $0.alarm.take() }?.cancel()
    }

    /// The monotonic time.
    package var now: Instant { timekeeper.now }

    /// The instant at which the next entry is due; nil without one.
    package var earliest: Instant? { state.withLock { $0.calls.earliest } }

    /// Whether the alarm is set.
    package var isArmed: Bool { state.withLock { $0.armedFor < .distantFuture } }

    /// The number of waiting entries.
    package var count: Int { state.withLock { $0.calls.count } }

    /// Calls `target` with `tag` once `instant` has come, unless the entry is cancelled before.
    package func schedule(at instant: Instant, for target: any TimerTarget, tag: Int) -> Entry {
        state.withLock { state in
            let entry = state.calls.insert(ScheduledCall(target: target, tag: tag), at: instant)
            state.arm(for: instant)
            return entry
        }
    }

    /// Cancels an entry; no effect once it was called.
    package func cancel(_ entry: Entry) {
        // The entry is released after the lock, because that may release its target too.
        _ = state.withLock { state in
            defer { if hasExactAlarms { state.armExactly() } }
            return state.calls.remove(entry)
        }
    }

    private static func wake(_ state: Locked<State>, _ timekeeper: any Timekeeper) {
        state.withLock { $0.armedFor = .distantFuture }
        let now = timekeeper.now
        while let due = state.withLock({ $0.calls.popFirst(notAfter: now) }) {
            due.target.timerFired(due.tag)
        }
        state.withLock { $0.arm() }
    }
}

/// The target of a scheduled call.
package protocol TimerTarget: AnyObject, Sendable {
    /// The instant for which `tag` was scheduled has come.
    func timerFired(_ tag: Int)
}
