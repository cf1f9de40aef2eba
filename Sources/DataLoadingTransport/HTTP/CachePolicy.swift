// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Controls how a load uses the service's cache.
///
/// Without a cache a load with `.cacheOnly` ends `.notCached`, and the other policies change
/// nothing.
public enum CachePolicy: Hashable, Sendable {
    /// Follows RFC 9111: fresh responses come from the cache, stale ones are validated.
    case useProtocolPolicy
    /// Loads from the origin, whatever is stored; the response may be stored.
    case reload
    /// Answers only from the cache, however old the response is.
    ///
    /// A load ends `.notCached` without a stored response, and when the response forbids to be used
    /// unconfirmed: `no-cache`, or `must-revalidate` once it is stale.
    case cacheOnly
    /// Does not read the cache and does not store the response.
    case bypass
}
