// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The checks of a request's method and header fields.
///
/// A load makes them before its request reaches a transport. The transports of this package make
/// them again, because `TransportRequest` does not check its values.
///
/// A byte that could start another line or another request is refused here, however a transport
/// would interpret it.
package enum RequestCheck {
    /// Fields that describe the message on the wire; only the transport sets them.
    private static let reserved = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive",
        "proxy-connection", "te", "trailer", "upgrade", "expect",
    ]

    package static func check(_ method: HTTPMethod) throws(RequestFault) {
        let bytes = method.rawValue.utf8
        guard !bytes.isEmpty, bytes.allSatisfy(\.isTokenCharacter) else { throw .method }
        // A CONNECT request asks for a tunnel, which no load is.
        guard method.rawValue != "CONNECT" else { throw .method }
    }

    package static func check(_ field: HTTPHeaders.Field) throws(RequestFault) {
        let name = field.name.utf8
        guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else {
            throw .headerName(field.name)
        }
        guard field.value.utf8.allSatisfy(\.isFieldValueByte) else {
            throw .headerValue(name: field.name)
        }
        guard !reserved.contains(where: field.name.equalsIgnoringASCIICase) else {
            throw .reservedHeader(field.name)
        }
    }
}
