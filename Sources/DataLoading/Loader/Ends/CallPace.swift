// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Whether the calls to a delegate are so short that they may be made on the transport's thread.
struct CallPace: Sendable {
    /// The longest average of a call, in nanoseconds: about what it costs to wake a thread instead,
    /// 20 to 45 µs on two cores.
    private static let limit: Int64 = 40_000
    /// What a call counts at most, in nanoseconds: one that was long because another process had its
    /// core is forgiven, two in a row are not.
    private static let maxCounted: Int64 = 200_000
    /// How long calls are made elsewhere before one is tried again: at first, and at most.
    private static let penalties = (first: Duration.milliseconds(100), last: Duration.seconds(10))
    /// The number of calls in a row after which slow ones are forgotten.
    private static let maxRemembered = 256

    /// The moving average of the calls' time, in nanoseconds; the last call counts an eighth.
    private var average: Int64 = 0
    private var penalty = Self.penalties.first
    /// The number of calls since they were slow.
    private var calls = 0
    /// When calls may be made on the transport's thread again; nil while they may.
    private(set) var slowUntil: Instant?

    /// Notes how long a call took, in nanoseconds.
    mutating func note(_ time: Int64, at now: Instant) {
        slowUntil = nil
        average += (min(max(0, time), Self.maxCounted) - average) / 8
        guard average > Self.limit else {
            calls += 1
            if calls >= Self.maxRemembered {
                calls = 0
                penalty = Self.penalties.first
            }
            return
        }
        (average, calls) = (0, 0)
        slowUntil = now + penalty
        penalty = min(penalty * 4, Self.penalties.last)
    }
}
