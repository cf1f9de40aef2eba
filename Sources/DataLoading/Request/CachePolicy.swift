// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a caching transport may do for a request.
public enum CachePolicy: Hashable, Sendable {
    /// Follow RFC 9111: fresh responses are answered from the cache, stale ones are validated.
    case useProtocolPolicy
    /// Load from the origin, whatever is stored; the answer may be stored.
    case reload
    /// Answer from the cache only, however old; nothing stored ends the load `.notCached`.
    case cacheOnly
    /// Neither look nor store.
    case bypass
}
