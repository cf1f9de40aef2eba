// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport

/// The header fields of a response that are stored (RFC 9111 section 3.1).
package enum StorableFields {
    /// Fields of one connection (RFC 9110 section 7.6.1), and those of a proxy.
    private static let ofConnection: Set = [
        "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]

    /// The fields without those that concern one connection only.
    package static func of(_ headers: HTTPHeaders) -> HTTPHeaders {
        // A set: a server may name very many.
        let left = ofConnection.union(headers.tokens(of: "Connection"))
        return HTTPHeaders(
            headers.fields.filter { !left.contains($0.name.asciiLowercased) })
    }

    /// Fields that describe the stored body, which a response without a body does not change.
    private static let ofBody: Set = ["content-length", "content-encoding", "content-range"]

    /// Fields of the message itself: an age and a date belong to the response that came with them,
    /// and one without a date is dated by its arrival (RFC 9110 section 6.6.1).
    private static let ofMessage: Set = ["age", "date"]

    /// The maximum number of bytes of names and values, twice as many as a head has by default:
    /// each 304 may add other fields.
    private static let maxBytes = 512 << 10

    /// The fields without those of the message itself.
    static func ofContent(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(headers.fields.filter { !ofMessage.contains($0.name.asciiLowercased) })
    }

    /// The stored fields, with those of a 304 or of a response to HEAD in place of their like (RFC
    /// 9111 section 3.2); nil when they would be too many.
    package static func merge(_ stored: HTTPHeaders, with newer: HTTPHeaders) -> HTTPHeaders? {
        let newer = of(newer).fields.filter { !ofBody.contains($0.name.asciiLowercased) }
        let replaced = Set(newer.map(\.name.asciiLowercased)).union(ofMessage)
        let fields =
            stored.fields.filter { !replaced.contains($0.name.asciiLowercased) } + newer
        let bytes = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return bytes <= maxBytes ? HTTPHeaders(fields) : nil
    }
}
