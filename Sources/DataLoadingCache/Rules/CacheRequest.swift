// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport

/// A request as the rules of a cache see it.
package struct CacheRequest: Sendable {
    package let method: HTTPMethod
    /// The fields as the caller wrote them, before authorisers add theirs; with a field for the
    /// authorisers that he has chosen.
    package let headers: HTTPHeaders
    package let policy: CachePolicy
    package let directives: CacheDirectives
    let hasRange: Bool
    /// Whether the caller makes the answer depend on what he has.
    let hasCondition: Bool
    /// Whether the caller's conditions are such as only the origin can judge (RFC 9111 section
    /// 4.3.2).
    let isForOrigin: Bool
    /// Whether the response depends on what is neither the URL nor a field of the request.
    let isApart: Bool
    /// Whether it validates a stored response that has answered in the meantime.
    package let isRevalidation: Bool

    /// The field that represents the authorisers a caller has chosen; no field has such a name.
    static let authorisers = ":authorisers"

    /// Makes it; `authorisers` are the names of those that the caller has chosen, and nil when he
    /// has chosen none.
    package init(
        method: HTTPMethod, headers: HTTPHeaders, policy: CachePolicy = .useProtocolPolicy,
        isRevalidation: Bool = false, isApart: Bool = false,
        authorisers: [String]? = nil
    ) {
        self.method = method
        self.isApart = isApart
        self.isRevalidation = isRevalidation
        var fields = headers
        for name in authorisers ?? [] { fields.add(name, for: Self.authorisers) }
        self.headers = fields
        self.policy = policy
        var directives = CacheDirectives(headers.values(for: "Cache-Control"))
        // RFC 9111 section 5.4.
        if !headers.contains("Cache-Control"), headers.tokens(of: "Pragma").contains("no-cache") {
            directives.noCache = true
        }
        if isRevalidation { directives.noCache = true }
        self.directives = directives
        hasRange = headers.contains("Range")
        hasCondition = headers.contains("If-None-Match") || headers.contains("If-Modified-Since")
        isForOrigin =
            headers.contains("If-Match") || headers.contains("If-Unmodified-Since")
            || headers.contains("If-Range")
    }

    /// Whether a stored response may answer the method: HEAD is answered from that of GET.
    package var mayUse: Bool {
        policy != .bypass && (method == .get || method == .head) && !isApart
    }

    /// Whether a response to the request may be stored.
    package var mayStore: Bool {
        policy != .bypass && method == .get && !directives.noStore && !hasRange && !isApart
    }

    /// Whether only what is stored may answer, however old it is.
    var isOnlyCache: Bool { policy == .cacheOnly }

    /// Whether the request must not be sent.
    package var mustNotGoOn: Bool { isOnlyCache || directives.onlyIfCached }
}
