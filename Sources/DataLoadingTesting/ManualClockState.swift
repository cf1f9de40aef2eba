// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import Foundation

/// The state of a manual clock: the time, pending alarms, and tasks that wait for pending alarms.
struct ManualClockState: Sendable {
    struct Entry: Sendable {
        let identifier: UInt64
        let instant: Instant
        let handler: @Sendable () -> Void
    }

    struct Waiter: Sendable {
        let count: Int
        let latest: Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private(set) var now = Instant(nanoseconds: 0)
    /// Sorted, latest first, and of equals the last set first, so that the next alarm is last.
    private(set) var pending: [Entry] = []
    var waiters: [UInt64: Waiter] = [:]
    /// How often the clock was used; an automatic advance waits until this stays the same.
    var uses = 0
    /// The number of sleeps that have ended while their task has not run on, and of calls that are
    /// starting a load.
    var work = 0
    private var dateAtStart: Date
    private var lastIdentifier: UInt64 = 0

    init(dateAtStart: Date) {
        self.dateAtStart = dateAtStart
    }

    var date: Date {
        dateAtStart.addingTimeInterval(elapsed)
    }

    mutating func setDate(_ date: Date) {
        dateAtStart = date.addingTimeInterval(-elapsed)
    }

    mutating func makeIdentifier() -> UInt64 {
        lastIdentifier += 1
        return lastIdentifier
    }

    /// Sets the alarm for an instant, and replaces its previous one.
    mutating func set(
        _ identifier: UInt64, for instant: Instant, handler: @escaping @Sendable () -> Void
    ) {
        _ = remove(identifier)
        uses += 1
        var low = 0
        var high = pending.count
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].instant > instant { low = middle + 1 } else { high = middle }
        }
        let entry = Entry(identifier: identifier, instant: instant, handler: handler)
        pending.insert(entry, at: low)
    }

    mutating func remove(_ identifier: UInt64) -> Entry? {
        uses += 1
        guard let index = pending.lastIndex(where: { $0.identifier == identifier }) else {
            return nil
        }
        return pending.remove(at: index)
    }

    /// Moves to the next due alarm and takes it, or moves to `target` and returns nil.
    mutating func takeDue(until target: Instant) -> (@Sendable () -> Void)? {
        guard let next = pending.last, next.instant <= target else {
            now = max(now, target)
            return nil
        }
        now = max(now, next.instant)
        pending.removeLast()
        return next.handler
    }

    /// The number of alarms due up to an instant.
    func count(until latest: Instant) -> Int {
        pending.count { $0.instant <= latest }
    }

    mutating func takeReadyWaiters() -> [Waiter] {
        let ready = waiters.filter { $0.value.count <= count(until: $0.value.latest) }
        for identifier in ready.keys { waiters[identifier] = nil }
        return Array(ready.values)
    }

    private var elapsed: TimeInterval {
        (now - Instant(nanoseconds: 0)).inSeconds
    }
}
