// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The rules of RFC 9111 section 4, RFC 5861 and RFC 8246 for a private cache.
extension CacheDecision {
    /// Decides about a request for whose URL nothing is stored, or nothing that its fields choose.
    package static func withoutEntry(
        _ request: CacheRequest, hasOtherVariants: Bool
    ) -> CacheDecision {
        if request.mustNotGoOn { return .unavailable }
        guard request.mayUse else {
            return .forward(request.policy == .bypass ? .bypass : .method, mayUseOnError: false)
        }
        return .forward(hasOtherVariants ? .varyMiss : .uriMiss, mayUseOnError: false)
    }

    /// Decides about a request for which a response is stored.
    package static func with(
        _ stored: StoredResponse, _ request: CacheRequest, at now: CacheMoment
    ) -> CacheDecision {
        guard request.mayUse else { return withoutEntry(request, hasOtherVariants: false) }
        if let decision = forOrigin(request) { return decision }
        let freshness = Freshness(stored, request, at: now)
        if freshness.isGoodEnough { return fresh(stored, request) }
        if request.mustNotGoOn {
            let isUsable = request.isOnlyCache ? freshness.mayBeStale : freshness.isAllowedByCaller
            return isUsable ? .reuse(.withoutOrigin) : .unavailable
        }
        if freshness.isAllowedByCaller { return .reuse(.asCallerAllows) }
        if freshness.mayBeUsedMeanwhile { return .reuse(.whileRevalidating) }
        let mayUseOnError = freshness.mayBeUsedOnError
        let validators = stored.validators
        if !request.hasCondition, !validators.fields.isEmpty {
            return .validate(validators, mayUseOnError: mayUseOnError)
        }
        return .forward(
            freshness.isRefusedByCaller ? .request : .stale, mayUseOnError: mayUseOnError)
    }

    /// Sends a request to the origin which only the origin can answer.
    private static func forOrigin(_ request: CacheRequest) -> CacheDecision? {
        let reason: CacheStatus.Forward
        if request.policy == .reload || request.directives.noStore || request.isForOrigin {
            reason = .request
        } else if request.hasRange {
            reason = .partial
        } else {
            return nil
        }
        return request.mustNotGoOn ? .unavailable : .forward(reason, mayUseOnError: false)
    }

    private static func fresh(_ stored: StoredResponse, _ request: CacheRequest) -> CacheDecision {
        guard request.hasCondition, stored.status == .ok,
            CallersCondition.holds(request.headers, for: stored)
        else { return .reuse(.fresh) }
        return .notModified
    }
}
