// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which header fields go along when a redirect leads to another origin.
///
/// Whoever answers a redirect chooses who gets the next request, so that nothing may go along that
/// was made for the origin that was asked. A list of what to drop cannot be complete: keys travel in
/// fields that services make up (`X-Api-Key`, `X-Auth-Token`, `PRIVATE-TOKEN`), which curl and every
/// client that drops by name hands on. So this is a list of what to keep: fields that negotiate and
/// describe, the same for whoever reads them. Whoever needs another names it in the request, by
/// `FieldsKeptAcrossOrigins`.
enum CrossOriginFields {
    /// Fields that are made for one origin, and never go to another, named or not.
    private static let bound = [
        "Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Origin", "Referer",
    ]

    // RFC 9110, but for its credentials and for `From`, which names a person; RFC 9111 and 9530;
    // `Prefer` of RFC 7240, `Priority` of RFC 9218, and `traceparent` of W3C Trace Context, whose
    // `tracestate` and `baggage` may carry anything. Entity tags are one origin's own: whoever chose
    // them may know a user by them.
    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-patch",
        "accept-ranges", "cache-control", "content-digest", "content-disposition",
        "content-encoding", "content-language", "content-location", "content-md5",
        "content-range", "content-type", "date", "digest", "dnt",
        "if-modified-since", "if-unmodified-since", "last-modified",
        "max-forwards", "pragma", "prefer", "priority", "range", "repr-digest", "traceparent",
        "user-agent", "want-content-digest", "want-repr-digest",
    ]

    /// The fields that may go to another origin, in their order.
    ///
    /// Nil when the request must not go without one that may not: an `If-Match`, which guards what
    /// it does.
    static func kept(of headers: HTTPHeaders, naming names: [String]) -> HTTPHeaders? {
        let loses = { headers.contains($0) && !mayCross($0, naming: names) }
        if loses("If-Match") { return nil }
        var kept = HTTPHeaders(headers.fields.filter { mayCross($0.name, naming: names) })
        // Unguarded, the range may be that of another representation (RFC 9110 section 13.1.5).
        if loses("If-Range") { kept["Range"] = nil }
        return kept
    }

    private static func mayCross(_ name: String, naming names: [String]) -> Bool {
        if harmless.contains(name.asciiLowercased) { return true }
        return names.contains(where: name.equalsIgnoringASCIICase)
            && !bound.contains(where: name.equalsIgnoringASCIICase)
    }
}
