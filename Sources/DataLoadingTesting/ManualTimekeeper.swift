// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import Foundation

/// A manual clock as the library's source of time.
struct ManualTimekeeper: Timekeeper {
    let clock: ManualClock

    var now: Instant { clock.instant }

    var date: Date { clock.date }

    /// Tests count pending alarms, and advance to the next one.
    var hasExactAlarms: Bool { true }

    func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        ManualAlarm(clock: clock, handler: handler)
    }

    func workBegan() { clock.noteWork(1) }

    func workEnded() { clock.noteWork(-1) }
}

/// An alarm that fires when its clock reaches its instant, unless dropped or cancelled.
private final class ManualAlarm: Alarm {
    private let clock: ManualClock
    private let identifier: UInt64
    private let handler: @Sendable () -> Void
    private let isCancelled = Locked(false)

    init(clock: ManualClock, handler: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.identifier = clock.makeIdentifier()
        self.handler = handler
    }

    deinit {
        clock.remove(identifier)
    }

    func set(for instant: Instant) {
        // Under the lock, so that a concurrent `cancel` leaves no alarm behind.
        isCancelled.withLock { isCancelled in
            if !isCancelled { clock.set(identifier, for: instant, handler: handler) }
        }
    }

    func unset() {
        clock.remove(identifier)
    }

    func cancel() {
        isCancelled.withLock { $0 = true }
        clock.remove(identifier)
    }
}
