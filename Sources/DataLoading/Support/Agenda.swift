// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Everything that is to happen at some instant, on one alarm.
///
/// A heap knows the earliest entry; the alarm is set for it and no other, so any number of waiting
/// loads costs no thread and no timer. An alarm that goes off too early, because its entry was taken
/// back, is set again: that is cheaper than moving it each time a load ends before its deadline.
package final class Agenda: Sendable {
    /// A reason to be called back; taken back by `cancel`.
    package typealias Entry = IndexedHeap<Appointment>.Handle

    /// Whom to call, and which of its reasons it was.
    package struct Appointment: Sendable {
        let target: any Punctual
        let tag: Int
    }

    private struct State: Sendable {
        var heap = IndexedHeap<Appointment>()
        var alarm: (any Alarm)?
        var armedFor = Instant.distantFuture

        /// Sets the alarm when the earliest entry comes before what it is set for.
        mutating func arm() {
            guard let earliest = heap.earliest, earliest < armedFor else { return }
            armedFor = earliest
            alarm?.set(for: earliest)
        }
    }

    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    package init(timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        // The alarm keeps the state, not the agenda: a weak reference would slow every other down.
        let alarm = timekeeper.makeAlarm { [state] in Self.wake(state, timekeeper) }
        state.withLock { $0.alarm = alarm }
    }

    deinit {
        state.withLock { $0.alarm.take() }?.cancel()
    }

    /// The monotonic time.
    package var now: Instant { timekeeper.now }

    /// When the next entry is due, nil without one.
    package var earliest: Instant? { state.withLock { $0.heap.earliest } }

    /// How many entries wait.
    package var count: Int { state.withLock { $0.heap.count } }

    /// Calls `target` with `tag` once `instant` has come, unless taken back before.
    package func schedule(at instant: Instant, for target: any Punctual, tag: Int) -> Entry {
        state.withLock { state in
            let entry = state.heap.insert(Appointment(target: target, tag: tag), at: instant)
            state.arm()
            return entry
        }
    }

    /// Takes an entry back; without effect once it was called.
    package func cancel(_ entry: Entry) {
        // The appointment is let go after the lock: its target may die with it.
        _ = state.withLock { $0.heap.remove(entry) }
    }

    private static func wake(_ state: Locked<State>, _ timekeeper: any Timekeeper) {
        state.withLock { $0.armedFor = .distantFuture }
        let now = timekeeper.now
        while let due = state.withLock({ $0.heap.popFirst(notAfter: now) }) {
            due.target.isDue(due.tag)
        }
        state.withLock { $0.arm() }
    }
}

/// Something that keeps appointments.
package protocol Punctual: AnyObject, Sendable {
    /// The instant came for which `tag` was scheduled.
    func isDue(_ tag: Int)
}
