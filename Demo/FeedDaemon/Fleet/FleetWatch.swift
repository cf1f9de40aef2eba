// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingFleet
import Foundation

/// Shares the daemon's rates with others, and notices whether Redis answers and how many they are.
struct FleetWatch {
    /// How long Redis may be silent; it is asked once a second.
    private static let patience = Duration.seconds(2)

    private let fleet: RedisFleet
    private let begun: ContinuousClock.Instant
    private var last: FleetState?
    /// How many daemons share, as far as is known.
    private(set) var members: Int

    /// Shares the rates of a limiter; nil without a server to do it through.
    init?(
        sharing limiter: RateLimiter, _ options: Arguments.Options,
        at now: ContinuousClock.Instant = .now
    ) {
        guard let endpoint = options.fleet else { return nil }
        let members = options.members
        // Daemons that load from the same hosts have the same namespace.
        var configuration = RedisFleet.Configuration(
            endpoints: [endpoint], namespace: "feed-daemon")
        configuration.user = options.fleetUser
        if let file = options.fleetPasswordFile {
            // Read for each connection, so that it can be replaced while the daemon runs.
            configuration.password = { try Self.firstLine(of: file) }
        }
        fleet = RedisFleet(configuration)
        limiter.share(through: fleet, expectedMembers: members)
        self.members = members
        begun = now
    }

    private static func firstLine(of file: String) throws -> String {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return String(text.prefix { !$0.isNewline })
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
