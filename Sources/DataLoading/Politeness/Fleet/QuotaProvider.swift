// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Keeps the rates of several daemons in one place, so that they hold for all daemons together.
///
/// The place is a store that every daemon reaches, such as a Redis server. It has a line of slots for
/// each key: instants at which a load may start, one interval apart. A daemon leases the next slots of
/// the line when it has loads that wait, and no two daemons get the same slot.
///
/// ```swift
/// let limiter = RateLimiter(defaultRequestsPerSecond: 10)
/// limiter.share(through: provider, expectedMembers: 8)
/// ```
/// A limiter calls its provider from tasks of its own, on no thread of a load, and holds no lock
/// meanwhile. It calls for several keys at the same time; for one key each of the functions has at most
/// one call under way. An answer later than 250 ms counts as none, so a function that cannot answer
/// should throw by then: until it returns there is no further call of its kind for the key. What a
/// function throws is not reported.
public protocol QuotaProvider: AnyObject, Sendable {
    /// How far ahead the slots of a lease reach at most, if there is a choice; default 100 ms.
    ///
    /// A slot that was leased longer ago is confirmed by a request with the count zero before a load
    /// starts in it. Values below 10 ms count as 10 ms, and those above 1 s as 1 s.
    var window: Duration { get }

    /// Leases the next slots of a key's line, or only looks at it.
    func lease(_ request: QuotaRequest) async throws -> QuotaLease

    /// Closes a key for all daemons until `delay` from now, unless it is closed for longer.
    func close(_ key: QuotaKey, for delay: Duration) async throws

    /// Says that this daemon is alive, and returns what is known of the others.
    ///
    /// Called about once a second, at once at the beginning, and to find out whether a store that did
    /// not answer does so again.
    func heartbeat() async throws -> FleetView

    /// Says goodbye, so that the others need not wait until this daemon counts as gone.
    ///
    /// Called once, when the last service of the limiter ends. Nothing is called afterwards.
    func shutDown() async
}

extension QuotaProvider {
    /// How far ahead the slots of a lease reach at most: 100 ms.
    public var window: Duration { .milliseconds(100) }
}
