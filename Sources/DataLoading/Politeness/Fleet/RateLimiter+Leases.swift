// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension RateLimiter {
    /// The most gates of others that one heartbeat can bring.
    private static let maxGates = 1_000

    /// Begins to ask about a key; nil if there is nothing to ask.
    func beginLease(of key: RuleKey) -> (request: QuotaRequest, number: UInt64)? {
        withTable { table, _ in table.shared?.prepare(key) }
        // Outside the lock, because those who count their loads call with a lock of theirs held.
        let demand = demand(for: key)
        return withTable { table, clock in
            let rule = table.rule(for: key)
            return table.shared?.begin(key, rule, demand, at: clock.now)
        }
    }

    /// Notes an answer about a key, and lets the loads start that have slots now.
    func leaseAnswered(_ key: RuleKey, _ number: UInt64, _ lease: QuotaLease) {
        let news = withTable { table, clock in
            let now = clock.now
            var news = table.shared?.answered(key, number, lease, at: now) ?? LeaseNews()
            if let gate = news.gate, table.learn(gate, for: key, at: now) { news.isChange = true }
            return news
        }
        if news.isReturn { return notify(.all(moved: [])) }
        if news.isChange { notify(.key(key)) }
    }

    /// Notes an answer to a heartbeat.
    func heartbeatAnswered(_ number: UInt64, _ view: FleetView, chance: Double) {
        let (isReturn, closed) = withTable { table, clock in
            let now = clock.now
            let isReturn = table.shared?.heartbeatAnswered(
                number, view, at: now, chance: chance)
            var closed: [RuleKey] = []
            for (key, delay) in view.gates.prefix(Self.maxGates) {
                guard let key = RuleKey(key) else { continue }
                if table.learn(now + delay, for: key, at: now) { closed.append(key) }
            }
            return (isReturn ?? false, closed)
        }
        if isReturn { return notify(.all(moved: [])) }
        for key in closed { notify(.key(key)) }
    }
}
