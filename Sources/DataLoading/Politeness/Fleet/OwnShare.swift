// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The daemon's own part of a rate, which its loads use where the store gives no slots.
struct OwnShare: Hashable, Sendable {
    /// Among how many daemons the rate is divided.
    let daemons: Int
    /// No load starts before this instant.
    let begin: Instant
    /// When slots of the line start again, before which all that is used must have passed; nil while
    /// there are none.
    var end: Instant?

    /// The rate that the daemon may use; nil for one that is none.
    func rate(of perSecond: Double) -> GCRA.Rate? {
        GCRA.Rate(requestsPerSecond: perSecond / Double(daemons))
    }

    /// The number of loads that can start, from an instant on, before the line has slots.
    ///
    /// The last of them leaves its interval before the first slot of the line, or both together would
    /// be more than the rate.
    func count(from first: Instant, of perSecond: Double) -> Int {
        guard let end else { return .max }
        let number = max(.zero, end - first).inSeconds * perSecond / Double(daemons)
        return Int(exactly: number.rounded(.down)) ?? .max
    }
}

/// How the loads of one key use the daemon's own share.
enum OwnShareUse: Hashable, Sendable {
    case none
    /// They do, from an instant on; the last of them asked at another.
    case begun(Instant, last: Instant)
    /// The store has given slots again, and they do until the first of those starts.
    ///
    /// Otherwise the daemons that come back would all wait for their first slots, which are behind those
    /// of the others, and the rate would be left unused for as long.
    case ending(Instant)

    /// Notes that the store, which was asked at an instant, has given slots.
    ///
    /// Loads that have used no share for longer than `interval`, the time between two of its slots, do
    /// not begin to.
    mutating func lineBegins(askedAt asked: Instant, _ interval: Duration) {
        guard case .begun(let begin, let last) = self else { return }
        self = asked - last <= interval ? .ending(begin) : .none
    }

    /// Notes that the slots of the line are given up before the first has started.
    mutating func lineIsGone(at now: Instant) {
        if case .ending(let begin) = self { self = .begun(begin, last: now) }
    }
}
