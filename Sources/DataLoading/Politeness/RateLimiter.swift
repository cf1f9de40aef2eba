// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport
import DataLoadingSupport
public import Foundation

/// Limits the rate of requests to each origin, by the GCRA algorithm, and enforces `Retry-After`.
///
/// A rate applies to all loads of a service together, retries and redirects included. It belongs to
/// a host, which here means an origin (scheme, host and port), or to the part of a host below one
/// first path component. The URL `https://example.com/search/…` uses the rate set for the path
/// `/search` of the host, else the rate of the host, else the default, which applies to every host
/// separately. The component is compared byte for byte with the one in the URL.
///
/// Rates may change while loads wait; a new rate applies at once. Any thread may call. Time is
/// monotonic: setting the wall clock has no effect.
///
/// ```swift
/// let limiter = RateLimiter(defaultRequestsPerSecond: 10)
/// limiter.setRequestsPerSecond(20, forHostOf: searchURL)
/// limiter.setRequestsPerSecond(2, burst: 5, forPathOf: searchURL)
/// ```
public final class RateLimiter: Sendable {
    private struct State: Sendable {
        var table: RateTable
        var timekeeper: any Timekeeper = SystemTimekeeper()
        var handlers: [UInt64: @Sendable (RateChange) -> Void] = [:]
        var lastHandler: UInt64 = 0
        var malformed = MalformedSettings<RuleKey>()
    }

    private let state: Locked<State>

    /// Makes a limiter with a default rate for every origin without a rate of its own.
    ///
    /// - Parameters:
    ///   - defaultRequestsPerSecond: Requests per second; nil means no limit, zero pauses. With an
    ///     invalid rate (negative, infinite, not a number) every load ends `.invalidConfiguration`.
    ///   - burst: How many requests an idle origin may start at once; by default 1, which spaces
    ///     all requests. With less every load ends `.invalidConfiguration`.
    public init(defaultRequestsPerSecond: Double?, burst: Int = 1) {
        do throws(DataLoaderError) {
            let rule = try RateRule(requestsPerSecond: defaultRequestsPerSecond, burst: burst)
            state = Locked(State(table: RateTable(defaultRule: rule)))
        } catch {
            var first = State(table: RateTable(defaultRule: .off))
            first.malformed.set(error, forText: "")
            state = Locked(first)
        }
    }

    /// The rate that applies to a URL; nil without a limit, zero when paused.
    public func requestsPerSecond(for url: URL) -> Double? {
        guard let target = try? RequestTarget(url) else { return nil }
        return state.withLock { $0.table.rule(for: $0.table.key(for: target)).requestsPerSecond }
    }

    /// Sets the rate for a URL's host: scheme, host and port.
    ///
    /// The URL's path is ignored. A path with a rate of its own does not use this rate.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: Requests per second; nil means no limit, zero pauses. An invalid rate
    ///     (negative, infinite, not a number) leaves the rate unchanged, and loads of the host end
    ///     `.invalidConfiguration` until a valid one is set.
    ///   - burst: How many requests may start at once after an idle time; by default 1. A number
    ///     below one counts as an invalid rate.
    ///   - url: Any URL of the host. With a URL that is not http or https every load ends
    ///     `.invalidConfiguration`, until nil is set for the same URL.
    public func setRequestsPerSecond(
        _ requestsPerSecond: Double?, burst: Int = 1, forHostOf url: URL
    ) {
        guard let target = known(url, requestsPerSecond) else { return }
        set(requestsPerSecond, burst, RuleKey(origin: target.origin))
    }

    /// Sets the rate for the part of a URL's host below the URL's first path component.
    ///
    /// With `https://example.com/search/all` that is every URL that begins with
    /// `https://example.com/search`, up to the end or the next slash. Each path has a rate of its
    /// own: two paths with 5 requests a second together send the host up to 10.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: Requests per second; nil means no limit, zero pauses. An invalid rate
    ///     (negative, infinite, not a number) leaves the rate unchanged, and loads of the path end
    ///     `.invalidConfiguration` until a valid one is set.
    ///   - burst: How many requests may start at once after an idle time; by default 1. A number
    ///     below one counts as an invalid rate.
    ///   - url: Any URL of the path; its query and the rest of its path are ignored. With a URL
    ///     without a path every load of its host ends `.invalidConfiguration`, and with one that is
    ///     not http or https every load, until nil is set for the same URL.
    public func setRequestsPerSecond(
        _ requestsPerSecond: Double?, burst: Int = 1, forPathOf url: URL
    ) {
        guard let target = known(url, requestsPerSecond) else { return }
        guard let key = RuleKey(partOf: target) else {
            let fault: DataLoaderError? = requestsPerSecond == nil ? nil : .missingRatedPath
            return state.withLock { $0.malformed.set(fault, for: .withoutPath(target.origin)) }
        }
        set(requestsPerSecond, burst, key)
    }

    /// The target of a URL; nil for one that is not http or https, which is recorded.
    private func known(_ url: URL, _ requestsPerSecond: Double?) -> RequestTarget? {
        if let target = try? RequestTarget(url) { return target }
        let fault: DataLoaderError? = requestsPerSecond == nil ? nil : .malformedRatedURL
        // A malformed default is stored under the empty text, which no URL has.
        state.withLock { $0.malformed.set(fault, forText: url.absoluteString) }
        return nil
    }

    private func set(_ requestsPerSecond: Double?, _ burst: Int, _ key: RuleKey) {
        let rule: RateRule
        do throws(DataLoaderError) {
            rule = try RateRule(requestsPerSecond: requestsPerSecond, burst: burst)
        } catch {
            return state.withLock { $0.malformed.set(error, for: key) }
        }
        let isNew = state.withLock { state in
            state.malformed.set(nil, for: key)
            return state.table.set(rule, for: key, at: state.timekeeper.now)
        }
        notify(isNew ? .part(of: key.origin) : .key(key))
    }

    /// Replaces every rule; malformed settings of before are withdrawn with them.
    func replace(_ rules: [RuleKey: RateRule], default usual: RateRule) {
        let moved = state.withLock { state in
            state.malformed = MalformedSettings()
            return state.table.replace(rules, default: usual, at: state.timekeeper.now)
        }
        notify(.all(moved: moved))
    }

    /// The default rule.
    var usualRule: RateRule { state.withLock { $0.table.defaultRule } }

    /// The rules, and the keys that are closed without one, with the time that each stays closed.
    package var ruleStates: [RuleState] {
        state.withLock { state in
            let now = state.timekeeper.now
            return state.table.states(at: now).map { state in
                RuleState(state.key, state.rule, gate: state.gate.map { $0 - now }, state.counts)
            }
        }
    }

    /// Throws `.invalidConfiguration` when a rate, or the URL of a rate, is malformed.
    public func validate() throws(DataLoaderError) {
        if let fault = state.withLock({ $0.malformed.first }) { throw fault }
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
        if state.withLock({ $0.table.open(key) }) { notify(.key(key)) }
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
    /// Keeps a change handler subscribed until the subscription is released.
    final class Subscription: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit {
            end()
        }
    }

    /// The key whose rate and gate apply to a target.
    func ruleKey(for target: RequestTarget) -> RuleKey {
        state.withLock { $0.table.key(for: target) }
    }

    /// Takes a slot if there is one now; otherwise returns when to ask again.
    ///
    /// A waiter reserves nothing: a cancelled one costs no slot.
    func reserve(_ key: RuleKey) -> Reservation {
        state.withLock { state in
            state.table.isUnlimited
                ? .granted : state.table.reserve(key, at: state.timekeeper.now)
        }
    }

    /// The wait of a load with `position` others before it; nil when the key is paused.
    func wait(for key: RuleKey, position: Int) -> Duration? {
        state.withLock { state in
            if state.table.isUnlimited { return .zero }
            let now = state.timekeeper.now
            return state.table.start(key, position: position, at: now).map { $0 - now }
        }
    }

    /// Closes a key until `delay` from now, at most an hour; zero and less have no effect.
    func setRetryAfter(_ delay: Duration, for key: RuleKey) {
        let isChange = state.withLock { $0.table.close(key, for: delay, at: $0.timekeeper.now) }
        if isChange { notify(.key(key)) }
    }

    /// Takes over a service's clock, before its first load.
    ///
    /// Gates and spacing keep their distance to now.
    func adopt(_ timekeeper: any Timekeeper) {
        state.withLock { state in
            state.table.rebase(by: timekeeper.now - state.timekeeper.now)
            state.timekeeper = timekeeper
        }
    }

    /// The number of keys that take memory besides their rule.
    var busyKeys: Int {
        state.withLock { $0.table.busyKeys }
    }

    /// Calls `handler` when waiting loads of a key may have to start earlier or later than told.
    ///
    /// The limiter calls it on the thread that made the change, with no lock held, until the
    /// subscription is dropped.
    func subscribe(_ handler: @escaping @Sendable (RateChange) -> Void) -> Subscription {
        let identifier = state.withLock { state in
            state.lastHandler += 1
            state.handlers[state.lastHandler] = handler
            return state.lastHandler
        }
        return Subscription { [state] in
            // The handler is released after the lock.
            _ = state.withLock { $0.handlers.removeValue(forKey: identifier) }
        }
    }

    private func notify(_ change: RateChange) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(change) }
    }
}

extension RateLimiter {
    /// The key whose rate and gate apply to a target.
    ///
    /// Throws the malformed setting that concerns the target or its origin, or one without a valid
    /// URL.
    func validRuleKey(for target: RequestTarget) throws(DataLoaderError) -> RuleKey {
        try state.withLock { state throws(DataLoaderError) in
            // Nearly always empty, and making the keys costs.
            if !state.malformed.isEmpty,
                let fault = state.malformed.concerning(
                    RuleKey(origin: target.origin), .withoutPath(target.origin),
                    RuleKey(origin: target.origin, pathComponent: target.firstPathComponent))
            {
                throw fault
            }
            return state.table.key(for: target)
        }
    }
}
