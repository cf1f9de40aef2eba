// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport

/// What a response without a body says about a stored one.
extension StoredResponse {
    /// The stored response as a 304 has confirmed it (RFC 9111 section 4.3.4); nil when the 304
    /// speaks of another response, or its fields would be too many.
    package func confirmed(
        by head: ResponseHead, to request: HTTPHeaders, times: ResponseTimes, hasQuery: Bool,
        _ heuristic: HeuristicFreshness = HeuristicFreshness()
    ) -> StoredResponse? {
        guard isDescribed(by: head.headers) else { return nil }
        return merged(with: head.headers, request, times, hasQuery, heuristic)
    }

    /// The stored response of GET as a 200 to HEAD has confirmed it (RFC 9111 section 4.3.5); nil
    /// when the response of GET would be another one now.
    package func confirmed(
        byHead head: ResponseHead, to request: HTTPHeaders, times: ResponseTimes, hasQuery: Bool,
        _ heuristic: HeuristicFreshness = HeuristicFreshness()
    ) -> StoredResponse? {
        guard status == head.status else { return nil }
        let same = ["ETag", "Last-Modified", "Content-Length"].allSatisfy { name in
            let values = head.headers.values(for: name)
            return values.isEmpty || values.hasSameBytes(as: headers.values(for: name))
        }
        return same ? merged(with: head.headers, request, times, hasQuery, heuristic) : nil
    }

    /// Whether a 304 speaks of the stored response: a strong tag is the same, and where there is
    /// none, whatever validator it has.
    private func isDescribed(by newer: HTTPHeaders) -> Bool {
        let tags = newer.values(for: "ETag")
        if let tag = tags.first {
            guard tags.count == 1, let new = EntityTag(tag[...]) else {
                return tags.hasSameBytes(as: headers.values(for: "ETag"))
            }
            guard let old = headers.values(for: "ETag").first.flatMap({ EntityTag($0[...]) }) else {
                return new.isWeak
            }
            return old.opaque.hasSameBytes(as: new.opaque)
        }
        let modified = newer.values(for: "Last-Modified")
        return modified.isEmpty || modified == headers.values(for: "Last-Modified")
    }

    /// Whether this response, which has confirmed an older one, will be used otherwise.
    ///
    /// One that is never fresh is asked for each time, whenever it was confirmed last.
    func matters(after old: StoredResponse) -> Bool {
        let mayBeFresh = lifetime.duration > .zero && !directives.noCache
        let mayBeStale =
            directives.staleWhileRevalidate != nil || directives.staleIfError != nil
        return mayBeFresh || mayBeStale || status != old.status || variant != old.variant
            || !StorableFields.ofContent(headers).hasSameBytes(
                as: StorableFields.ofContent(old.headers))
    }

    private func merged(
        with newer: HTTPHeaders, _ request: HTTPHeaders, _ times: ResponseTimes, _ hasQuery: Bool,
        _ heuristic: HeuristicFreshness
    ) -> StoredResponse? {
        guard let headers = StorableFields.merge(headers, with: newer) else { return nil }
        return StoredResponse(
            status: status, headers: headers,
            variant: VariantKey(headers, request: request) ?? .ofNothing, times: times,
            hasQuery: hasQuery, heuristic)
    }
}
