// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a cache did since it was made, and what it holds.
public struct CacheStatistics: Hashable, Sendable {
    /// The number of loads that were answered without their server.
    public var hits = 0
    /// The number of stored responses that their servers have confirmed.
    public var validated = 0
    /// The number of loads for which nothing was stored that could answer or be validated.
    public var misses = 0
    /// The number of loads that got a response after its freshness: because they took one, while it
    /// was validated, or in place of an error.
    public var staleServed = 0
    /// The number of bytes that are stored now.
    ///
    /// Of a cache on disk it counts the files, as far as this process knows: it counts those of
    /// other processes from time to time.
    public var bytes = 0
    /// The number of responses that had to leave for others.
    public var evicted = 0
    /// The number of times that the disk has refused to take a response.
    ///
    /// After each of them nothing is written for 60 seconds. The first one since a write succeeded
    /// writes one line to standard error.
    public var writeFailures = 0
    /// Whether the disk refused the response that it was given last.
    public var refusesWrites = false

    /// Makes empty statistics.
    public init() {}

    mutating func count(_ recall: Recall) {
        // It is counted already, for the load that it follows.
        guard !recall.request.isRevalidation else { return }
        switch recall.decision {
        case .reuse(.fresh), .notModified: hits += 1
        case .reuse:
            hits += 1
            staleServed += 1
        case .validate: break
        case .forward, .unavailable: misses += 1
        }
    }
}
