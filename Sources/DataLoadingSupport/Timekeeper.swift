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
    /// Notes that a thread does something for which a clock that moves by itself must wait.
    func workBegan()
    /// Notes that a thread has done it.
    func workEnded()
}

extension Timekeeper {
    package func workBegan() {}

    package func workEnded() {}
}

/// A one-shot alarm that can be set again; it may fire early, and then who still waits sets it again.
package protocol Alarm: AnyObject, Sendable {
    /// Replaces the instant at which the alarm fires.
    func set(for instant: Instant)
    /// Stops the alarm for good.
    func cancel()
}

/// The machine's own time, which counts sleep like `ContinuousClock`.
package struct SystemTimekeeper: Timekeeper {
    package init() {}

    package var date: Date { Date() }

    package func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        DispatchAlarm(now: { now }, handler: handler)
    }
}
