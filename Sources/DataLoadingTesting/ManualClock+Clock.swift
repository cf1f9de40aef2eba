// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

extension ManualClock: Clock {
    /// A point on a manual clock, counted from the start of the clock.
    public struct Instant: InstantProtocol {
        let point: DataLoadingSupport.Instant

        init(_ point: DataLoadingSupport.Instant) {
            self.point = point
        }

        /// The time since the clock was made.
        public var elapsed: Duration { .nanoseconds(point.nanoseconds) }

        /// Returns the instant that is later by a duration; at most 292 years from the start.
        public func advanced(by duration: Duration) -> Instant {
            Instant(point + duration)
        }

        /// Returns the time from this instant to another one.
        public func duration(to other: Instant) -> Duration {
            other.point - point
        }

        /// Whether an instant is earlier than another one.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.point < right.point
        }
    }

    /// The current instant.
    public var now: Instant { Instant(instant) }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until the clock is advanced to an instant; throws `CancellationError` when cancelled.
    ///
    /// The sleep ends exactly at its instant, whatever the tolerance.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleep = ManualSleep(clock: self)
        if deadline.point > instant {
            let hasSlept = await withTaskCancellationHandler {
                await withCheckedContinuation { sleep.begin($0, until: deadline.point) }
            } onCancel: {
                sleep.end()
            }
            if hasSlept { noteWork(-1) }
        }
        try Task.checkCancellation()
    }

    /// Waits until the clock has moved by `duration`; throws `CancellationError` when cancelled.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: now.advanced(by: duration))
    }
}
