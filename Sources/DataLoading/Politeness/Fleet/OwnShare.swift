// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The daemon's own part of a rate, which its loads use where the store gives no slots.
struct OwnShare: Hashable, Sendable {
    /// The first slot of a line that has slots again.
    struct Line: Hashable, Sendable {
        let start: Instant
        /// When loads are to ask again at the latest, so that the slot can be confirmed.
        let nextLook: Instant
    }

    /// Among how many daemons the rate is divided.
    var daemons: Int
    /// No load starts before this instant.
    let begin: Instant
    /// Nil while the line has no slots.
    var line: Line?

    /// The rate that the daemon may use; nil for one that is none.
    func rate(of perSecond: Double) -> GCRA.Rate? {
        GCRA.Rate(requestsPerSecond: perSecond / Double(daemons))
    }

    /// The time between two of its slots.
    func interval(of perSecond: Double) -> Duration {
        .saturating(seconds: Double(daemons) / perSecond)
    }

    /// The number of loads that can start, from an instant on, before the line has slots.
    ///
    /// The last of them leaves its interval before the first slot of the line, or both together would
    /// be more than the rate.
    func count(from first: Instant, of perSecond: Double) -> Int {
        guard let line else { return .max }
        let number = max(.zero, line.start - first).inSeconds * perSecond / Double(daemons)
        return Int(exactly: number.rounded(.down)) ?? .max
    }
}
