// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport
import DataLoadingSupport
public import Foundation

extension RateLimiter {
    /// The rate that applies to a URL; nil without a limit, zero when paused.
    public func requestsPerSecond(for url: URL) -> Double? {
        guard let target = try? RequestTarget(url) else { return nil }
        return withTable { table, _ in table.rule(for: table.key(for: target)).requestsPerSecond }
    }

    /// Closes a URL's key until `delay` from now.
    ///
    /// The service calls it with the `Retry-After` of a 429 or 503 response. The key opens when the
    /// time has passed, or by `clearRetryAfter(for:)`. A shorter delay or a success does not open
    /// it. Waiting loads then start at the key's rate, or, without a rate, at 10 requests a second
    /// that double each second for 10 s. A server's longer delay counts as one hour.
    ///
    /// - Throws: `.invalidConfiguration` for a delay that is not above zero and at most an hour, or
    ///   a URL that is not http or https. Nothing has changed then.
    public func setRetryAfter(_ delay: Duration, for url: URL) throws(DataLoaderError) {
        guard delay > .zero, delay <= RateTable.maxGate else { throw .malformedGate }
        guard let target = try? RequestTarget(url) else { throw .malformedGatedURL }
        setRetryAfter(delay, for: ruleKey(for: target))
    }

    /// Clears the `Retry-After` of a URL's key: waiting loads start now, at the key's rate.
    ///
    /// Call it when the delay is known to be wrong: the 429 concerned one user's quota, or the
    /// server is available again. Without a rate all waiting loads start at once, within the
    /// connection limits. The next `Retry-After` closes the key again.
    public func clearRetryAfter(for url: URL) {
        guard let target = try? RequestTarget(url) else { return }
        let key = ruleKey(for: target)
        if withTable({ table, _ in table.open(key) }) { notify(.key(key)) }
    }

    /// The wait of a request performed now if no other load waits; takes no slot.
    ///
    /// Zero for a URL that cannot be loaded, 292 years for a paused one.
    public func earliestTimeUntilRequestCanBeExecuted(_ request: DataLoaderRequest) -> Duration {
        guard let target = try? request.target else { return .zero }
        return wait(for: ruleKey(for: target), position: 0) ?? .nanoseconds(Int64.max)
    }
}

extension RateLimiter {
    /// The key whose rate and gate apply to a target.
    func ruleKey(for target: RequestTarget) -> RuleKey {
        withTable { table, _ in table.key(for: target) }
    }

    /// The default rule.
    var usualRule: RateRule { withTable { table, _ in table.defaultRule } }

    /// The rules, and the keys that are closed without one, with the time that each stays closed.
    package var ruleStates: [RuleState] {
        let (table, now) = withTable { ($0, $1.now) }
        return table.states(at: now).map { RuleState($0, at: now) }
    }

    /// The rates of all keys that are not idle, and what the limiter has done in all.
    package var rateFigures: RateFigures {
        // A copy, so that no load waits for the texts of thousands of hosts.
        let (table, now) = withTable { ($0, $1.now) }
        let all = table.allCounts
        return RateFigures(
            states: table.busyStates(at: now).map { RuleState($0, at: now) },
            defaultRequestsPerSecond: table.defaultRule.requestsPerSecond,
            admitted: all.admitted, gateClosings: all.closings)
    }

    /// The hosts that have a rate of their own; a server that answers `Retry-After` adds none.
    package var ratedOrigins: [String] {
        Set(withTable { table, _ in table.rules.keys.map(\.origin) }).map(\.text).sorted()
    }

    /// The wait of a load with `position` others before it; nil when the key is paused.
    func wait(for key: RuleKey, position: Int) -> Duration? {
        withTable { table, clock in
            if table.isUnlimited { return .zero }
            let now = clock.now
            return table.start(key, position: position, at: now).map { $0 - now }
        }
    }

    /// Closes a key until `delay` from now, at most an hour; zero and less have no effect.
    func setRetryAfter(_ delay: Duration, for key: RuleKey) {
        let (isChange, isShared) = withTable { table, clock in
            let now = clock.now
            let isChange = table.close(key, for: delay, at: now)
            guard isChange, table.shared != nil else { return (isChange, false) }
            table.shared?.close(key, until: now + min(delay, RateTable.maxGate))
            return (true, true)
        }
        if isShared { keeper?.carryOut() }
        if isChange { notify(.key(key)) }
    }

    /// The number of keys that take memory besides their rule.
    var busyKeys: Int {
        withTable { table, _ in table.busyKeys }
    }
}
