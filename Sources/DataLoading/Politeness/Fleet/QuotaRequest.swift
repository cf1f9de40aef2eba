// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A daemon's request for slots of a key's line.
public struct QuotaRequest: Hashable, Sendable {
    /// The key whose line it is.
    public var key: QuotaKey
    /// The slots in a second, above zero: what this daemon asks for prices its own slots.
    ///
    /// It is the configured rate, or less while some daemons do not reach the store: those use the
    /// rest.
    public var requestsPerSecond: Double
    /// How many slots an idle key gives at once, one or more.
    public var burst: Int
    /// The number of slots that can be used now; zero only looks at the line.
    public var count: Int
    /// The longest time that any of the loads can wait for the first slot; nil for any time.
    ///
    /// If the first slot starts later, no slot is to be leased.
    public var longestWait: Duration?
    /// How far this daemon knows the line to be leased already, from now; never below zero.
    ///
    /// It restores a line that the store has lost. A store should not believe more than twice the
    /// larger of its window and an interval for each daemon.
    public var knownLead: Duration

    /// Makes a request.
    public init(
        key: QuotaKey, requestsPerSecond: Double, burst: Int, count: Int, longestWait: Duration?,
        knownLead: Duration
    ) {
        self.key = key
        self.requestsPerSecond = requestsPerSecond
        self.burst = burst
        self.count = count
        self.longestWait = longestWait
        self.knownLead = knownLead
    }
}
