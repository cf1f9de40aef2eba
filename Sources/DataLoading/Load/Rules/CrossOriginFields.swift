// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Selects the header fields that stay in a request after a redirect to another origin.
///
/// The server that redirects chooses the receiver of the next request. Fields that were made for
/// the first origin must not be sent to it. A list of fields to drop cannot be complete: keys are
/// sent in fields that services invent (`X-Api-Key`, `X-Auth-Token`, `PRIVATE-TOKEN`), which curl
/// and every client that drops fields by name send on. This is therefore a list of fields to keep:
/// fields that negotiate and describe, with the same meaning for every server. A request that needs
/// another field names it in `fieldsKeptAcrossOrigins`.
enum CrossOriginFields {
    /// Fields that are made for one origin, and are never sent to another, named or not.
    private static let bound = [
        "Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Origin", "Referer",
    ]

    // RFC 9110, without its credentials and without `From`, which names a person; RFC 9111 and
    // 9530; `Prefer` of RFC 7240 and `Priority` of RFC 9218. Entity tags belong to one origin, and a
    // server can choose them to identify a user. By the fields of W3C Trace Context two servers
    // could tell that they serve the same one.
    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-patch",
        "accept-ranges", "cache-control", "content-digest", "content-disposition",
        "content-encoding", "content-language", "content-location", "content-md5",
        "content-range", "content-type", "date", "digest", "dnt",
        "if-modified-since", "if-unmodified-since", "last-modified",
        "max-forwards", "pragma", "prefer", "priority", "range", "repr-digest",
        "user-agent", "want-content-digest", "want-repr-digest",
    ]

    /// Returns the fields that may be sent to another origin, in their order.
    ///
    /// Nil when the request must not be sent without a field that it would lose: an `If-Match`,
    /// which guards its effect.
    static func kept(of headers: HTTPHeaders, naming names: [String]) -> HTTPHeaders? {
        let loses = { headers.contains($0) && !mayCross($0, naming: names) }
        if loses("If-Match") { return nil }
        var kept = HTTPHeaders(headers.fields.filter { mayCross($0.name, naming: names) })
        // Without its `If-Range`, the range may be of another representation (RFC 9110 section
        // 13.1.5).
        if loses("If-Range") { kept["Range"] = nil }
        return kept
    }

    private static func mayCross(_ name: String, naming names: [String]) -> Bool {
        if harmless.contains(name.asciiLowercased) { return true }
        return names.contains(where: name.equalsIgnoringASCIICase)
            && !bound.contains(where: name.equalsIgnoringASCIICase)
    }
}
