// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingCache
public import DataLoadingTransport

/// What a service does at the moment, for a metric, a status page or a log.
///
/// Its parts are read one after the other, so that sums over several parts may differ by the loads
/// that move between them meanwhile.
public struct ServiceSnapshot: Sendable {
    /// How long a service takes loads.
    public enum Stage: Hashable, Sendable {
        /// New loads may start.
        case open
        /// `shutDown(gracePeriod:)` waits for running loads.
        case closing
        /// No load may start any more.
        case over
    }

    /// The largest number of entries in each list.
    static let listLimit = 64

    /// Whether new loads may start.
    public let stage: Stage
    /// The number of loads whose outcome is not delivered yet.
    public let liveLoads: Int
    /// The number of loads that wait for a rate or for a connection slot.
    public let waiting: Int
    /// How many loads may wait for them.
    public let queueCapacity: Int
    /// The number of attempts that hold a connection slot.
    public let running: Int
    /// The origins that have loads, a reduced retry budget or no connection: the 64 busiest.
    public let origins: [OriginState]
    /// The number of origins that `origins` leaves out.
    public let otherOrigins: Int
    /// The rates that were set, and the hosts that a `Retry-After` closes: closed ones first, 64 at
    /// most.
    public let rules: [RuleState]
    /// The number of rates that `rules` leaves out.
    public let otherRules: Int
    /// The default rate, in requests per second; nil without a limit.
    public let defaultRequestsPerSecond: Double?
    /// How rates are shared with other daemons; nil for rates of this one only.
    package let sharing: SharingState?
    /// The fallback addresses: those out of use first, 64 at most.
    public let addresses: [AddressState]
    /// The number of addresses that `addresses` leaves out.
    public let otherAddresses: Int
    /// The credentials that authorisers of this library fetch: those that cannot be used first, 64 at
    /// most.
    public let credentials: [CredentialState]
    /// The number of credentials that `credentials` leaves out.
    public let otherCredentials: Int
    /// What the cache did and holds; nil without a cache.
    public let cache: CacheStatistics?
    /// What the transport does; nil for a transport that does not tell, such as `URLSession`'s.
    public let transport: TransportSnapshot?
    /// The number of reports that observers' queues were too slow for.
    public let droppedConsumptionNotices: Int
}
