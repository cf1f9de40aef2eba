// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingFleet

/// How a daemon shared its rates during a run.
struct FleetRecord {
    let endpoint: RedisEndpoint
    private var state: FleetState?
    private var mostMembers = 0
    private var losses = 0
    private var timeWithout = Duration.zero
    /// When the daemon began to use its own share; nil while it shares.
    private var lostSince: Duration?

    init(endpoint: RedisEndpoint) {
        self.endpoint = endpoint
    }

    /// Notes a state that begins at a time of the run.
    mutating func learn(_ new: FleetState, at time: Duration) {
        state = new
        switch new {
        case .shared(let members):
            mostMembers = max(mostMembers, members)
            timeWithout += lostSince.map { time - $0 } ?? .zero
            lostSince = nil
        case .ownShare:
            if lostSince == nil { losses += 1 }
            lostSince = lostSince ?? time
        }
    }

    /// What is reported when the run ends.
    func text(until end: Duration) -> String {
        guard let state, mostMembers > 0 else {
            return "\(endpoint) never answered; the daemon used its own share of each rate"
        }
        let who = mostMembers == 1 ? "by this daemon only" : "by up to \(mostMembers) daemons"
        let rates = "rates shared \(who) through \(endpoint)"
        guard losses > 0 else { return rates }
        let time = timeWithout + (lostSince.map { end - $0 } ?? .zero)
        let now = if case .ownShare = state { ", and at the end" } else { "" }
        return "\(rates); on its own share for \(time.text(decimals: 1))\(now)"
    }
}
