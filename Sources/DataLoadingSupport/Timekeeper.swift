// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A source of time: a monotonic clock, the wall clock, and alarms.
///
/// `DataLoadingTesting` replaces it by a clock that the test moves. Transports, which wait for
/// sockets, and the OAuth redirect server read the system's clock of the same kind for their
/// limits. The clean-up of credential files reads the system's wall clock.
package protocol Timekeeper: Sendable {
    /// The monotonic time.
    var now: Instant { get }
    /// The wall time, for HTTP dates and for the age of stored OAuth credentials.
    var date: Date { get }
    /// Makes an unset alarm that calls `handler` each time it fires, never inline in `set`.
    func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm
    /// Whether an alarm that has become too early must be set again at once, for who counts alarms.
    var hasExactAlarms: Bool { get }
    /// Notes that a thread does something for which a clock that moves by itself must wait.
    func workBegan()
    /// Notes that a thread has done it.
    func workEnded()
}

extension Timekeeper {
    package var hasExactAlarms: Bool { false }

    package func workBegan() {}

    package func workEnded() {}
}

/// A one-shot alarm that can be set again; it may fire early, and then who still waits sets it again.
package protocol Alarm: AnyObject, Sendable {
    /// Replaces the instant at which the alarm fires.
    func set(for instant: Instant)
    /// Keeps the alarm from firing until it is set again; no effect on one that may fire early.
    func unset()
    /// Stops the alarm for good.
    func cancel()
}

extension Alarm {
    package func unset() {}
}

/// The machine's own time, which counts sleep like `ContinuousClock`.
package struct SystemTimekeeper: Timekeeper {
    package init() {}

    package var date: Date { Date() }

    package func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        DispatchAlarm(now: { now }, handler: handler)
    }
}
