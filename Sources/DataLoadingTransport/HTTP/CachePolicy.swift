// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Controls how a caching transport uses its cache for a request.
///
/// The transports of this package have no cache. They end a load with `.cacheOnly` as `.notCached`
/// and ignore the other policies.
public enum CachePolicy: Hashable, Sendable {
    /// Follows RFC 9111: fresh responses come from the cache, stale ones are validated.
    case useProtocolPolicy
    /// Loads from the origin, whatever is stored; the response may be stored.
    case reload
    /// Answers only from the cache, however old the entry is.
    ///
    /// A load without a stored response ends `.notCached`.
    case cacheOnly
    /// Does not read the cache and does not store the response.
    case bypass
}
