// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The pauses before a store that has not answered is asked again: 100 ms, doubled up to 1 s, jittered
/// in full so that the daemons do not come back at the same time.
enum FleetPause {
    static let first = Duration.milliseconds(100)
    /// The time between two heartbeats.
    static let heartbeat = Duration.seconds(1)
    /// The time between two after this daemon has come, or come back, while others are missing: they
    /// come back one after the other, within a second or so.
    static let gathering = Duration.milliseconds(150)
    /// For how long they come so often.
    static let gatheringLength = Duration.seconds(3)

    /// The pause before a gate is told again: up to 30 s, because a store that is away may be away for as
    /// many gates as there are hosts.
    static func closing(after failures: Int, chance: Double) -> Duration {
        length(doublings: min(max(0, failures), 9), limit: .seconds(30), chance: chance)
    }

    /// The pause before a key that the store refuses is asked about again: up to 5 s, because it may do
    /// so until somebody mends it, and refuse many others too.
    static func refusal(after failures: Int, chance: Double) -> Duration {
        length(doublings: min(max(0, failures - 1), 6), limit: .seconds(5), chance: chance)
    }

    /// The pause after so many failures in a row, by a random number from zero to one.
    static func length(after failures: Int, chance: Double) -> Duration {
        length(doublings: min(max(0, failures - 1), 4), limit: heartbeat, chance: chance)
    }

    private static func length(doublings: Int, limit: Duration, chance: Double) -> Duration {
        max(.milliseconds(5), min(first * (1 << doublings), limit) * min(max(0, chance), 1))
    }
}
