// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport

/// Whether a whole response may be stored (RFC 9111 section 3), for a private cache.
package enum Storability {
    /// Whether a response may be stored that arrives now in place of what is stored for its
    /// request; `authorisedFields` are the names of the request fields that authorisers have set.
    package static func allows(
        _ response: ResponseHead, to request: CacheRequest, at now: CacheMoment,
        inPlaceOf stored: StoredResponse? = nil, authorisedFields: [String] = []
    ) -> Bool {
        guard request.mayStore, isWhole(response.status), !isForRequest(response.status),
            !isFailure(response.status, inPlaceOf: stored),
            allowsFields(of: response, authorisedFields: authorisedFields)
        else { return false }
        let directives = CacheDirectives(response.headers.values(for: "Cache-Control"))
        if response.status.isHeuristicallyCacheable || directives.isPublic { return true }
        // RFC 9111 section 3 lets such a status be stored for what it says itself. One that is
        // never fresh would only take the place of a response that is of use.
        let lifetime = FreshnessLifetime(
            response, directives, receivedAt: now.seconds, hasQuery: true, HeuristicFreshness())
        return lifetime.isExplicit && lifetime.duration > .zero
    }

    /// Whether a response is a failure of the origin, and what is stored is none: that one may be
    /// used on errors yet (RFC 5861 section 4).
    private static func isFailure(
        _ status: HTTPStatus, inPlaceOf stored: StoredResponse?
    ) -> Bool {
        guard status.isFailureOfOrigin, let stored else { return false }
        return !stored.status.isFailureOfOrigin
    }

    /// Whether the fields of a response allow to store it, or to leave it stored once a 304 has
    /// brought them.
    package static func allowsFields(
        of response: ResponseHead, authorisedFields: [String] = []
    ) -> Bool {
        let directives = CacheDirectives(response.headers.values(for: "Cache-Control"))
        guard !forbids(directives, response.status),
            let names = VariantKey.names(response.headers)
        else { return false }
        return !authorisedFields.contains { names.contains($0.asciiLowercased) }
    }

    private static func forbids(_ directives: CacheDirectives, _ status: HTTPStatus) -> Bool {
        // RFC 9111 section 5.2.2.3: who knows the status ignores `no-store` beside
        // `must-understand`, and who does not stores nothing.
        guard directives.mustUnderstand else { return directives.noStore }
        return !status.isHeuristicallyCacheable
    }

    /// Whether a response with this status answers what one client or network did: it asks for
    /// credentials, which the cache does not see, it is about a condition, a range or an
    /// expectation of its request (RFC 9110 sections 15.5.13, 15.5.17 and 15.5.18), or RFC 6585
    /// forbids to store it.
    private static func isForRequest(_ status: HTTPStatus) -> Bool {
        [401, 407, 412, 416, 417, 428, 429, 431, 511].contains(status.rawValue)
    }

    /// Whether a response with this status is complete: it is final, and neither a part nor
    /// an update of another.
    private static func isWhole(_ status: HTTPStatus) -> Bool {
        status.rawValue >= 200 && status != .partialContent && status != .notModified
    }
}

extension StoredResponse {
    /// Whether the response may stay stored after one without a body has changed its fields.
    package func mayStay(authorisedFields: [String]) -> Bool {
        Storability.allowsFields(
            of: ResponseHead(status: status, headers: headers), authorisedFields: authorisedFields)
    }
}
