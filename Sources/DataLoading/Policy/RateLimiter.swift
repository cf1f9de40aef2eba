// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How often each server is asked, and how long it is left alone when it says so.
///
/// A rate holds for all loads of a service together, retries and redirects included. It belongs to
/// an origin (scheme, host, port), or to the part of an origin below one first path component: for
/// `https://example.com/search/…` the rate set for `https://example.com/search` holds, else the one
/// set for `https://example.com`, else the default, which every origin has for itself.
/// The component is compared byte for byte, as it stands in the URL.
///
/// Rates may change while loads wait; the new rate holds at once. Any thread may call.
/// Time is monotonic: the wall clock changes nothing.
///
/// ```swift
/// let limiter = RateLimiter(defaultRequestsPerSecond: 10)
/// limiter.setRequestsPerSecond(2, burst: 5, for: searchURL)
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

    /// Makes a limiter with a rate for every origin that has none of its own.
    ///
    /// - Parameters:
    ///   - defaultRequestsPerSecond: Requests per second; nil holds nothing back, zero lets nothing
    ///     through. With what is no rate (negative, infinite, not a number) every load ends
    ///     `.invalidConfiguration`.
    ///   - burst: How many requests an origin that was idle may start at once; at least and by
    ///     default 1, which keeps all requests apart.
    public init(defaultRequestsPerSecond: Double?, burst: Int = 1) {
        let rule = RateRule(requestsPerSecond: defaultRequestsPerSecond, burst: burst)
        var first = State(table: RateTable(defaultRule: rule ?? .off))
        if rule == nil { first.malformed.set(.malformedRate, forText: "") }
        state = Locked(first)
    }

    /// The rate that holds for a URL; nil when nothing holds it back, zero when it is paused.
    public func requestsPerSecond(for url: URL) -> Double? {
        guard let target = try? RequestTarget(url) else { return nil }
        return state.withLock { $0.table.rule(for: $0.table.key(for: target)).requestsPerSecond }
    }

    /// Sets the rate for a URL's origin and first path component, or its origin when it has no path.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: Requests per second; nil holds nothing back, zero lets nothing
    ///     through. What is no rate (negative, infinite, not a number) leaves the rate as it was, and
    ///     loads of the URL's key end `.invalidConfiguration` until it is set right.
    ///   - burst: How many requests may start at once after an idle time; at least and by default 1.
    ///   - url: Any URL that the rate is meant for; its query and the rest of its path do not count.
    ///     With what is no http or https URL every load ends `.invalidConfiguration`, until nil is set
    ///     for the same URL.
    public func setRequestsPerSecond(_ requestsPerSecond: Double?, burst: Int = 1, for url: URL) {
        guard let target = try? RequestTarget(url) else {
            let fault: DataLoaderError? = requestsPerSecond == nil ? nil : .malformedRatedURL
            // A default that is none is noted under the empty text, which no URL has.
            return state.withLock { $0.malformed.set(fault, forText: url.absoluteString) }
        }
        let place = RuleKey(
            origin: target.origin, pathComponent: target.firstPathComponent.map { "\($0)" })
        guard let rule = RateRule(requestsPerSecond: requestsPerSecond, burst: burst) else {
            return state.withLock { $0.malformed.set(.malformedRate, for: place) }
        }
        let (key, isNew) = state.withLock { state in
            state.malformed.set(nil, for: place)
            return state.table.set(rule, for: target, at: state.timekeeper.now)
        }
        notify(isNew ? .part(of: key.origin) : .key(key))
    }

    /// Throws `.invalidConfiguration` when a rate, or what one was set for, is malformed.
    public func validate() throws(DataLoaderError) {
        if let malformedPart { throw malformedPart }
    }

    /// Lets nothing through for a URL's key until `delay` from now.
    ///
    /// The service calls it with what a 429 or 503 response says in `Retry-After`. Time opens the key
    /// again, or `clearRetryAfter(for:)`: a shorter delay does not, nor does a success. At most one
    /// hour; zero and less do nothing. Those who waited leave at the key's rate; without one, at 10
    /// requests a second that double each second for 10 s.
    public func setRetryAfter(_ delay: Duration, for url: URL) {
        guard let target = try? RequestTarget(url) else { return }
        setRetryAfter(delay, for: ruleKey(for: target))
    }

    /// Forgets the `Retry-After` of a URL's key: loads that wait for it go now, at the key's rate.
    ///
    /// For an operator who knows more than the response said: a 429 was about one user's quota, or the
    /// server is back early. Without a rate all waiting loads go at once, as far as the limits of
    /// connections let them. The next `Retry-After` closes the key again.
    public func clearRetryAfter(for url: URL) {
        guard let target = try? RequestTarget(url) else { return }
        let key = ruleKey(for: target)
        if state.withLock({ $0.table.open(key) }) { notify(.key(key)) }
    }

    /// How long a request performed now would wait, if nobody waits before it; takes no slot.
    ///
    /// Zero for a URL that cannot be loaded, 292 years for a paused one.
    public func earliestTimeUntilRequestCanBeExecuted(_ request: DataLoaderRequest) -> Duration {
        guard let target = try? RequestTarget(request.url) else { return .zero }
        return wait(for: ruleKey(for: target), position: 0) ?? .nanoseconds(Int64.max)
    }
}

extension RateLimiter {
    /// Keeps a change handler until it is dropped.
    package final class Subscription: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit {
            end()
        }
    }

    /// The key whose rate and gate hold for a target.
    package func ruleKey(for target: RequestTarget) -> RuleKey {
        state.withLock { $0.table.key(for: target) }
    }

    /// Takes a slot if there is one now; otherwise says when to ask again.
    ///
    /// Whoever waits holds nothing: a waiter that is cancelled costs no slot.
    package func reserve(_ key: RuleKey) -> Reservation {
        state.withLock { state in
            state.table.isUnlimited
                ? .granted : state.table.reserve(key, at: state.timekeeper.now)
        }
    }

    /// The wait of one before whom `position` others go; nil when that is not known: paused.
    package func wait(for key: RuleKey, position: Int) -> Duration? {
        state.withLock { state in
            if state.table.isUnlimited { return .zero }
            let now = state.timekeeper.now
            return state.table.start(key, position: position, at: now).map { $0 - now }
        }
    }

    /// Closes a key until `delay` from now, as the public form does.
    package func setRetryAfter(_ delay: Duration, for key: RuleKey) {
        let isChange = state.withLock { $0.table.close(key, for: delay, at: $0.timekeeper.now) }
        if isChange { notify(.key(key)) }
    }

    /// Takes a service's time, before its first load; gates and spacing keep their distance to now.
    package func adopt(_ timekeeper: any Timekeeper) {
        state.withLock { state in
            state.table.rebase(by: timekeeper.now - state.timekeeper.now)
            state.timekeeper = timekeeper
        }
    }

    /// The number of keys that take memory besides their rule.
    package var busyKeys: Int {
        state.withLock { $0.table.busyKeys }
    }

    /// Calls `handler` whenever those who wait for a key may have to go earlier or later than told.
    ///
    /// It is called on the thread that made the change, with no lock held, until the subscription is
    /// dropped.
    package func subscribe(_ handler: @escaping @Sendable (RateChange) -> Void) -> Subscription {
        let identifier = state.withLock { state in
            state.lastHandler += 1
            state.handlers[state.lastHandler] = handler
            return state.lastHandler
        }
        return Subscription { [state] in
            // The handler is let go after the lock.
            _ = state.withLock { $0.handlers.removeValue(forKey: identifier) }
        }
    }

    private func notify(_ change: RateChange) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(change) }
    }
}

extension RateLimiter: Validatable {
    var malformedPart: DataLoaderError? { state.withLock { $0.malformed.first } }

    /// What was set, and cannot be meant, for a target, its origin, or for what is no URL.
    func malformedSetting(for target: RequestTarget) -> DataLoaderError? {
        state.withLock { state in
            state.malformed.isEmpty
                ? nil
                : state.malformed.concerning(
                    RuleKey(origin: target.origin),
                    RuleKey(origin: target.origin, pathComponent: target.firstPathComponent))
        }
    }
}
