// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport

/// The head of a stored response, with what the rules need to know of its time.
///
/// What follows from the fields is worked out once, when the response is stored or read, so that a
/// hit parses nothing.
package struct StoredResponse: Sendable {
    package let status: HTTPStatus
    package let headers: HTTPHeaders
    package let variant: VariantKey
    /// When its request was sent and when it arrived.
    package let times: ResponseTimes
    let directives: CacheDirectives
    let lifetime: FreshnessLifetime
    /// The age at which it arrived.
    let initialAge: Duration

    /// Makes it from a response that may be stored, and from the fields of the request as the
    /// caller wrote them; nil when it varies on more than its request.
    package init?(
        _ response: ResponseHead, request: HTTPHeaders, times: ResponseTimes, hasQuery: Bool,
        _ heuristic: HeuristicFreshness = HeuristicFreshness()
    ) {
        guard let variant = VariantKey(response.headers, request: request) else { return nil }
        self.init(
            status: response.status, headers: StorableFields.of(response.headers),
            variant: variant, times: times, hasQuery: hasQuery, heuristic)
    }

    /// Makes it from what a store kept.
    package init(
        status: HTTPStatus, headers: HTTPHeaders, variant: VariantKey, times: ResponseTimes,
        hasQuery: Bool, _ heuristic: HeuristicFreshness = HeuristicFreshness()
    ) {
        self.status = status
        self.headers = headers
        self.variant = variant
        self.times = times
        directives = CacheDirectives(headers.values(for: "Cache-Control"))
        lifetime = FreshnessLifetime(
            ResponseHead(status: status, headers: headers), directives,
            receivedAt: times.received.seconds, hasQuery: hasQuery, heuristic)
        initialAge = times.initialAge(headers)
    }

    /// Whether it is the same response at the same time, not a later one of the same URL.
    package func isSame(as other: StoredResponse) -> Bool {
        times == other.times && status == other.status && variant == other.variant
            && headers.hasSameBytes(as: other.headers)
    }

    /// Whether another response, by its times and fields, is newer although this one came later: a
    /// server may be slow.
    ///
    /// The later `Date` is of the newer one; without, the one that was asked for later is.
    func isOvertaken(by other: ResponseTimes, _ fields: HTTPHeaders) -> Bool {
        guard times.isAround(other) else { return false }
        guard let date = headers.date(of: "Date", now: times.received.seconds),
            let others = fields.date(of: "Date", now: other.received.seconds)
        else { return true }
        return date <= others
    }

    /// How old the response is (RFC 9111 section 4.2.3); nil when the wall clock went back since
    /// an earlier process has stored it.
    package func age(at now: CacheMoment) -> Duration? {
        times.residentTime(at: now).map { initialAge + $0 }
    }

    /// How long the response is fresh from now on; negative when it is stale, nil when its age is
    /// not known.
    package func remaining(at now: CacheMoment) -> Duration? {
        age(at: now).map { lifetime.duration - $0 }
    }

    /// The fields for a reuse: with the present age, and without those that must be validated first
    /// (RFC 9111 section 5.2.2.4), unless that has just been done.
    package func reusedHeaders(at now: CacheMoment, isValidated: Bool) -> HTTPHeaders {
        var headers = headers
        if !isValidated {
            for name in directives.noCacheFields { headers[name] = nil }
        }
        if let age = age(at: now) { headers["Age"] = String(age.components.seconds) }
        return headers
    }

    /// The fields that ask the origin whether the response is still right (RFC 9111 section 4.3.1).
    package var validators: HTTPHeaders {
        var fields = HTTPHeaders()
        let tags = headers.values(for: "ETag")
        if tags.count == 1, Self.mayBeSent(tags[0]) { fields.add(tags[0], for: "If-None-Match") }
        let dates = headers.values(for: "Last-Modified")
        if dates.count == 1, HTTPDate.secondsSince1970(dates[0][...], now: 0) != nil {
            fields.add(dates[0], for: "If-Modified-Since")
        }
        return fields
    }

    /// The maximum length of a tag that is sent back.
    private static let maxTagLength = 4_096

    /// Whether a request may have a tag that a response has.
    ///
    /// With control bytes, or a length that servers refuse, each later load of the URL would fail.
    private static func mayBeSent(_ tag: String) -> Bool {
        (1...maxTagLength).contains(tag.utf8.count) && tag.utf8.allSatisfy(\.isFieldValueByte)
    }
}
