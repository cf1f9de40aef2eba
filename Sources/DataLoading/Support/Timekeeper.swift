// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The source of time for everything but transports: a monotonic clock, the wall clock, and alarms.
///
/// `DataLoadingTesting` replaces it by a clock that moves when a test says so. Transports wait for
/// sockets, and read the system's clock of the same kind, which counts the machine's sleep.
package protocol Timekeeper: Sendable {
    /// The monotonic time.
    var now: Instant { get }
    /// The wall time, read for one purpose: turning an HTTP date into a delay.
    var date: Date { get }
    /// Makes an alarm, not set, that calls `handler` each time it goes off, never inline in `set`.
    func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm
}

/// A one-shot alarm that can be set again.
package protocol Alarm: AnyObject, Sendable {
    /// Replaces the instant at which the alarm goes off.
    func set(for instant: Instant)
    /// Silences the alarm for good.
    func cancel()
}

/// The machine's own time: as `ContinuousClock` has it, which also counts while the machine sleeps.
package struct SystemTimekeeper: Timekeeper {
    package init() {}

    package var date: Date { Date() }

    package func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        DispatchAlarm(now: { now }, handler: handler)
    }
}
