// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import DataLoadingTransport

/// The header fields of a response that are stored (RFC 9111 section 3.1).
package enum StorableFields {
    /// Fields of one connection (RFC 9110 section 7.6.1), and those of a proxy.
    private static let ofConnection = [
        "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]

    /// The fields without those that concern one connection only.
    package static func of(_ headers: HTTPHeaders) -> HTTPHeaders {
        let named = headers.tokens(of: "Connection")
        return HTTPHeaders(
            headers.fields.filter { field in
                !(ofConnection + named).contains { field.name.equalsIgnoringASCIICase($0) }
            })
    }

    /// Fields that describe the stored body, which a response without a body does not change.
    private static let ofBody = ["content-length", "content-encoding", "content-range"]

    /// The stored fields, with those of a 304 or of a response to HEAD in place of their like (RFC
    /// 9111 section 3.2).
    package static func merge(_ stored: HTTPHeaders, with newer: HTTPHeaders) -> HTTPHeaders {
        let newer = of(newer).fields.filter { field in
            !ofBody.contains { field.name.equalsIgnoringASCIICase($0) }
        }
        // An age belongs to the response that came with it.
        let kept = stored.fields.filter { field in
            !field.name.equalsIgnoringASCIICase("Age")
                && !newer.contains { $0.name.equalsIgnoringASCIICase(field.name) }
        }
        return HTTPHeaders(kept + newer)
    }
}
