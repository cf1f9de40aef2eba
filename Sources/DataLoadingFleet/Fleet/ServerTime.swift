// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The time of a server, as far as a daemon knows it: what it has said, and how long ago that was.
struct ServerTime: Sendable {
    /// Microseconds since 1970.
    private let microseconds: Int64
    private let received: Instant

    init(_ microseconds: Int64, received: Instant) {
        self.microseconds = microseconds
        self.received = received
    }

    /// Whether a server's time is further on than a question can have been under way: half a second, as
    /// the scripts count.
    static func isAhead(_ time: Int64, of asked: Int64?) -> Bool {
        asked.map { time >= $0.addingSaturated(500_000) } ?? false
    }

    /// The server's time at an instant, early by the way of its answer; nil when a minute has passed,
    /// in which one of the two clocks may have been set.
    func time(at instant: Instant) -> Int64? {
        let passed = max(.zero, instant - received)
        guard passed < .seconds(60) else { return nil }
        let (sum, overflow) = microseconds.addingReportingOverflow(passed.microseconds)
        return overflow ? .max : sum
    }
}
