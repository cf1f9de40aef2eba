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
        var subscribers: [UInt64: Subscriber] = [:]
        var lastSubscriber: UInt64 = 0
        /// Calls the provider of shared rates; nil when nothing is shared.
        var keeper: LeaseKeeper?
        /// What rates are, or were, shared through.
        var provider: (any QuotaProvider)?
        /// What `share` was called with, until a service lends its clock.
        var membership: FleetMembership?
        /// The number of services that use the limiter.
        var services = 0
        var malformed = MalformedSettings<RuleKey>()
    }

    private struct Subscriber: Sendable {
        let demand: @Sendable (RuleKey) -> SlotDemand
        let changed: @Sendable (RateChange) -> Void
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

    /// Throws `.invalidConfiguration` when a rate, or the URL of a rate, is malformed.
    public func validate() throws(DataLoaderError) {
        if let fault = state.withLock({ $0.malformed.first }) { throw fault }
    }
}

extension RateLimiter {
    /// Takes a slot if there is one now; otherwise returns when to ask again.
    ///
    /// A waiter reserves nothing: a cancelled one costs no slot. `hasOrders` becomes true when the
    /// caller is to call `carryOutOrders` after it has released its locks; else it stays as it is.
    func reserve(_ key: RuleKey, hasOrders: inout Bool) -> Reservation {
        let (answer, isOrder) = state.withLock { state -> (Reservation, Bool) in
            guard !state.table.isUnlimited else { return (.granted, false) }
            let answer = state.table.reserve(key, at: state.timekeeper.now)
            guard state.table.isShared else { return (answer, false) }
            return (answer, state.table.shared?.hasOrders ?? false)
        }
        if isOrder { hasOrders = true }
        return answer
    }

    /// Asks those whom rates are shared with, if a reservation has left something to ask.
    ///
    /// No lock may be held: whoever counts the loads that wait is asked how many there are.
    func carryOutOrders() {
        keeper?.carryOut()
    }

    /// Takes over a service's clock, before its first load.
    ///
    /// Gates and spacing keep their distance to now. `serviceEnded` is to be called once in return.
    func adopt(_ timekeeper: any Timekeeper, random: RandomSource = .system) {
        let keeper = state.withLock { state in
            state.table.rebase(by: timekeeper.now - state.timekeeper.now)
            state.timekeeper = timekeeper
            state.services += 1
            guard let membership = state.membership.take() else { return state.keeper }
            return join(membership, random, &state)
        }
        keeper?.carryOut()
    }

    /// Shares from now on if a service lends its clock, else from when one does.
    func join(_ membership: FleetMembership) {
        let keeper = state.withLock { state -> LeaseKeeper? in
            guard state.keeper == nil, state.membership == nil else { return nil }
            guard state.services > 0 else {
                state.membership = membership
                return nil
            }
            return join(membership, .system, &state)
        }
        guard let keeper else { return }
        keeper.carryOut()
        notify(.all(moved: []))
    }

    private func join(
        _ membership: FleetMembership, _ random: RandomSource, _ state: inout State
    ) -> LeaseKeeper {
        var shared = SharedRates(
            policy: membership.policy, window: membership.provider.window,
            expectedMembers: membership.expectedMembers)
        shared.orderHeartbeat()
        state.table.share(shared)
        let keeper = LeaseKeeper(
            membership.provider, for: self, timekeeper: state.timekeeper, random: random)
        (state.keeper, state.provider) = (keeper, membership.provider)
        return keeper
    }

    /// Records a malformed setting of `share`.
    func note(_ fault: DataLoaderError, ofSetting name: String) {
        state.withLock { $0.malformed.set(fault, forText: name) }
    }

    /// Notes that a service has ended; returns who is to say goodbye, if it was the last one.
    func serviceEnded() -> LeaseKeeper? {
        state.withLock { state in
            state.services -= 1
            guard state.services <= 0, let keeper = state.keeper.take() else { return nil }
            state.table.shared?.end(at: state.timekeeper.now)
            return keeper
        }
    }

    /// Calls `body` with the rules and the clock, under the lock.
    func withTable<Result: Sendable>(
        _ body: (inout RateTable, any Timekeeper) -> Result
    ) -> Result {
        state.withLock { body(&$0.table, $0.timekeeper) }
    }

    /// What calls the provider of shared rates; nil when nothing is shared, or no longer.
    var keeper: LeaseKeeper? { state.withLock { $0.keeper } }

    /// What rates are, or were, shared through.
    var provider: (any QuotaProvider)? { state.withLock { $0.provider } }

    /// The loads that wait for slots of a rule.
    func demand(for rule: RuleKey) -> SlotDemand {
        var demand = SlotDemand()
        for subscriber in state.withLock({ Array($0.subscribers.values) }) {
            demand += subscriber.demand(rule)
        }
        return demand
    }

    /// Calls `handler` when waiting loads of a key may have to start earlier or later than told.
    ///
    /// The limiter calls it on the thread that made the change, with no lock held, until the
    /// subscription is dropped. It calls `demand` likewise, to learn which loads wait for a rule.
    func subscribe(
        demand: @escaping @Sendable (RuleKey) -> SlotDemand = { _ in SlotDemand() },
        _ handler: @escaping @Sendable (RateChange) -> Void
    ) -> Subscription {
        let identifier = state.withLock { state in
            state.lastSubscriber += 1
            state.subscribers[state.lastSubscriber] = Subscriber(demand: demand, changed: handler)
            return state.lastSubscriber
        }
        return Subscription { [state] in
            // The handlers are released after the lock.
            _ = state.withLock { $0.subscribers.removeValue(forKey: identifier) }
        }
    }

    /// Tells the subscribers of a change.
    func notify(_ change: RateChange) {
        for subscriber in state.withLock({ Array($0.subscribers.values) }) {
            subscriber.changed(change)
        }
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
