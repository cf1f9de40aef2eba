// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How a stored response's age compares with what it says itself and with what the caller wants.
struct Freshness {
    /// Whether the response is used as fresh.
    let isGoodEnough: Bool
    /// Whether the caller wants something fresher than what is stored.
    let isRefusedByCaller: Bool
    /// Whether nothing forbids to use the response after its freshness.
    let mayBeStale: Bool
    /// Whether the caller takes a response as stale as this one.
    let isAllowedByCaller: Bool
    /// Whether the response may be used while it is validated (RFC 5861 section 3).
    let mayBeUsedMeanwhile: Bool
    /// Whether the response may be used when the origin cannot answer (RFC 5861 section 4).
    let mayBeUsedOnError: Bool

    init(_ stored: StoredResponse, _ request: CacheRequest, at now: CacheMoment) {
        let said = stored.directives
        let wanted = request.directives
        let remaining = stored.remaining(at: now)
        let isFresh = remaining.map { $0 > .zero } ?? false
        let wantsNewer = Self.wantsNewer(
            wanted, stored, now, reloadsInVain: said.isImmutable && isFresh)
        isRefusedByCaller = wanted.noCache || wantsNewer
        isGoodEnough = isFresh && !said.noCache && !isRefusedByCaller
        mayBeStale = !said.noCache && !said.mustRevalidate || isFresh && !said.noCache
        let staleness = remaining.map { max(.zero - $0, .zero) }
        let isUsable = mayBeStale && !wanted.noCache
        isAllowedByCaller =
            isUsable && !wantsNewer && Self.isWithin(wanted.maxStale, staleness)
        mayBeUsedMeanwhile =
            isUsable && !wantsNewer && wanted.maxStale == nil
            && Self.isWithin(said.staleWhileRevalidate, staleness)
        mayBeUsedOnError =
            isUsable
            && (Self.isWithin(said.staleIfError, staleness)
                || Self.isWithin(wanted.staleIfError, staleness))
    }

    /// Whether the caller wants a younger response, or one that is fresh for longer.
    ///
    /// A reload, which `max-age=0` asks for, is in vain where a response never changes while it is
    /// fresh (RFC 8246 section 2).
    private static func wantsNewer(
        _ wanted: CacheDirectives, _ stored: StoredResponse, _ now: CacheMoment, reloadsInVain: Bool
    ) -> Bool {
        if let maxAge = wanted.maxAge, maxAge > .zero || !reloadsInVain {
            guard let age = stored.age(at: now) else { return true }
            // RFC 9111 section 5.2.1.1 takes an age that is equal; zero asks for validation.
            if age > maxAge || maxAge == .zero { return true }
        }
        guard let minFresh = wanted.minFresh else { return false }
        return stored.remaining(at: now).map { $0 < minFresh } ?? true
    }

    /// Whether a staleness is within a window; a staleness that is not known is only in one
    /// without an end.
    private static func isWithin(_ window: Duration?, _ staleness: Duration?) -> Bool {
        guard let window else { return false }
        guard let staleness else { return window == CacheDirectives.anyTime }
        return staleness <= window && window > .zero
    }
}
