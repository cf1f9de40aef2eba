// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingFleet

/// Shares the daemon's rates with others, and notices whether Redis answers and how many they are.
struct FleetWatch {
    /// How long Redis may be silent; it is asked once a second.
    private static let patience = Duration.seconds(2)

    private let fleet: RedisFleet
    private let begun: ContinuousClock.Instant
    private var last: FleetState?
    /// How many daemons share, as far as is known.
    private(set) var members: Int

    /// Shares the rates of a limiter.
    init(
        sharing limiter: RateLimiter, through endpoint: RedisEndpoint, expected members: Int,
        at now: ContinuousClock.Instant = .now
    ) {
        // Daemons that load from the same hosts have the same namespace.
        fleet = RedisFleet(
            RedisFleet.Configuration(endpoints: [endpoint], namespace: "feed-daemon"))
        limiter.share(through: fleet, expectedMembers: members)
        self.members = members
        begun = now
    }

    /// Returns an event if the state has changed since the last call.
    mutating func look(at now: ContinuousClock.Instant = .now) -> Event? {
        let status = fleet.status
        if status.members > 0 { members = status.members }
        let isReached =
            status.connection == .ready && status.members > 0
            && status.lastAnswer.map { $0 < Self.patience } ?? false
        // The first answer takes a moment.
        guard isReached || last != nil || now - begun > .seconds(1) else { return nil }
        let state = isReached ? FleetState.shared(members: members) : .ownShare(of: members)
        guard state != last else { return nil }
        last = state
        return .fleet(state)
    }
}
