// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A response's status and header fields.
public struct ResponseHead: Sendable {
    /// The status code.
    public var status: HTTPStatus
    /// The fields, in the order in which they arrived.
    public var headers: HTTPHeaders
    /// Whether what arrived of a body that breaks off may lack a piece in the middle.
    package var mayLackPieces = false
    /// Whether it is a proxy's answer to CONNECT, and not the server's.
    package var refusesTunnel = false

    /// Makes a head.
    public init(status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.headers = headers
    }
}

extension ResponseHead {
    /// The body's length, if exactly one value is declared and no coding changes it.
    package var bodyLength: Int64? {
        let lengths = headers.values(for: "Content-Length")
        guard let first = lengths.first, lengths.allSatisfy({ $0 == first }),
            !first.isEmpty, first.utf8.allSatisfy(\.isDigit), !headers.contains("Content-Encoding"),
            !headers.contains("Transfer-Encoding")
        else { return nil }
        return Int64(first)
    }
}
