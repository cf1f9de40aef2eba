// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Where a daemon that shares its rates gets its slots from, and how many daemons share.
enum FleetState: Hashable, Sendable {
    /// From Redis.
    case shared(members: Int)
    /// From the daemon's own share of each rate, because Redis does not answer.
    case ownShare(of: Int)

    var text: String {
        switch self {
        case .shared(members: 1): "shares its rates through Redis; no other daemon does yet"
        case .shared(members: 2): "shares its rates with 1 other daemon"
        case .shared(let members): "shares its rates with \(members - 1) other daemons"
        case .ownShare(of: 1): "does not reach Redis, and knows of no other daemon"
        case .ownShare(let members):
            "does not reach Redis, and uses its own share: 1/\(members) of each rate"
        }
    }
}
