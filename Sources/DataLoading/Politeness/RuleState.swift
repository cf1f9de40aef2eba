// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// A rate that was set for a host or a part of one, and what it has admitted.
public struct RuleState: Hashable, Sendable {
    /// The host, for example "https://api.example.com".
    public let origin: String
    /// The first path component that it is limited to, without slashes; nil for the whole host.
    public let pathComponent: String?
    /// The rate in requests per second; nil without a limit, zero when paused.
    public let requestsPerSecond: Double?
    /// How many requests may start at once after an idle time; nil without a limit.
    public let burst: Int?
    /// The time for which a `Retry-After` keeps it closed; nil when it is open.
    public let gateRemaining: Duration?
    /// How many requests it has admitted since the rate was first set.
    ///
    /// Without a rate only those after a `Retry-After` are counted.
    public let admitted: Int64
    /// How often a `Retry-After` has closed it.
    public let gateClosings: Int64

    init(_ state: RateTable.State, at now: Instant) {
        origin = state.key.origin.text
        pathComponent = state.key.pathComponent.map(String.init)
        requestsPerSecond = state.rule.requestsPerSecond
        burst = state.rule.burst
        gateRemaining = state.gate.map { $0 - now }
        admitted = state.counts.admitted
        gateClosings = state.counts.closings
    }
}
