// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Whether the calls to a delegate are so short that they may be made on the transport's thread.
struct CallPace: Sendable {
    /// The longest average of a call, in nanoseconds: about what it costs to wake a thread instead.
    private static let limit: Int64 = 20_000
    /// How long calls are made elsewhere before one is tried again, in seconds.
    private static let penalty = Duration.seconds(10)

    /// The moving average of the calls' time, in nanoseconds; the last call counts an eighth.
    private var average: Int64 = 0
    /// When calls may be made on the transport's thread again; nil while they may.
    private(set) var slowUntil: Instant?

    /// Notes how long a call took, in nanoseconds.
    mutating func note(_ time: Int64, at now: Instant) {
        slowUntil = nil
        average = average &+ (time &- average) / 8
        guard average > Self.limit else { return }
        average = 0
        slowUntil = now + Self.penalty
    }
}
