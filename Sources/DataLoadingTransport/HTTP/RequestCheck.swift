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

    /// A bit for each length of a reserved name; most other names have another length.
    private static let reservedLengths = reserved.reduce(UInt32(0)) {
        $0 | 1 << UInt32($1.utf8.count)
    }

    package static func check(_ method: HTTPMethod) throws(RequestFault) {
        let name = method.rawValue
        guard !name.isEmpty, name.hasOnlyBytes(where: \.isTokenCharacter) else { throw .method }
        // A CONNECT request asks for a tunnel, which no load is.
        guard name != "CONNECT" else { throw .method }
    }

    package static func check(_ field: HTTPHeaders.Field) throws(RequestFault) {
        guard !field.name.isEmpty, field.name.hasOnlyBytes(where: \.isTokenCharacter) else {
            throw .headerName(field.name)
        }
        guard field.value.hasOnlyBytes(where: \.isFieldValueByte) else {
            throw .headerValue(name: field.name)
        }
        let count = field.name.utf8.count
        guard count < 32, reservedLengths & 1 << UInt32(count) != 0 else { return }
        guard !reserved.contains(where: field.name.equalsIgnoringASCIICase) else {
            throw .reservedHeader(field.name)
        }
    }
}
