// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// How the loads of one key use the daemon's own share.
enum OwnShareUse: Hashable, Sendable {
    case none
    /// They do, and count as those that do until an instant, unless they ask again.
    case begun(OwnShare, until: Instant)
    /// The store has given slots again, and they do until the first of those starts.
    ///
    /// Otherwise the daemons that come back would all wait for their first slots, which are behind those
    /// of the others, and the rate would be left unused for as long.
    case ending(OwnShare)

    /// How long loads that wait for a slot of a slow share count as those that use it.
    private static let longest = Duration.seconds(30)

    /// Makes the use of a share by a load that asks at an instant; `interval` is the time between two of
    /// its slots, and there are none after `end`.
    init(
        _ share: OwnShare, at now: Instant, interval: Duration,
        notAfter end: Instant = .distantFuture
    ) {
        let soon = now + min(interval, Self.longest) + .milliseconds(100)
        self = .begun(share, until: min(soon, end))
    }

    /// Whether there is nothing to remember at an instant, for a key that has no slots.
    func isOver(at now: Instant) -> Bool {
        if case .begun(_, let end) = self { end < now } else { true }
    }

    /// Notes that the store, which was asked at an instant, has given slots.
    mutating func lineBegins(askedAt asked: Instant) {
        guard case .begun(let share, let end) = self else { return }
        self = asked <= end ? .ending(share) : .none
    }

    /// Notes that slots of the line are given up before the first has started.
    mutating func lineIsGone(at now: Instant, interval: Duration) {
        if case .ending(let share) = self {
            self = OwnShareUse(share, at: now, interval: interval)
        }
    }

    /// Notes that slots of the line were not used in time: loads that come now do not continue what
    /// others have begun.
    mutating func slotsWereDropped() {
        if case .ending = self { self = .none }
    }
}
