// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The checks that every request passes before anything of it reaches a transport.
///
/// A byte that could start another line or another request is refused here, whatever a transport
/// would make of it.
enum RequestCheck {
    /// Fields that describe the message on the wire, which is the transport's to write.
    private static let reserved = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive",
        "proxy-connection", "te", "trailer", "upgrade", "expect",
    ]

    /// Returns where the request goes, or says which part of it is not allowed.
    static func target(of request: DataLoaderRequest) throws(RequestFault) -> RequestTarget {
        let target = try RequestTarget(request.url)
        try check(request)
        return target
    }

    /// Checks everything but the URL.
    static func check(_ request: DataLoaderRequest) throws(RequestFault) {
        try check(request.method)
        for field in request.headers.fields { try check(field) }
        if request.method == .head || request.method == .trace, request.body != nil {
            throw .body
        }
        guard case .multipart(let form) = request.body else { return }
        for type in form.parts.compactMap(\.contentType) {
            try check(HTTPHeaders.Field(name: "Content-Type", value: type))
        }
    }

    static func check(_ method: HTTPMethod) throws(RequestFault) {
        let bytes = method.rawValue.utf8
        guard !bytes.isEmpty, bytes.allSatisfy(\.isTokenCharacter) else { throw .method }
        // A CONNECT request asks for a tunnel, which no load is.
        guard method.rawValue != "CONNECT" else { throw .method }
    }

    static func check(_ field: HTTPHeaders.Field) throws(RequestFault) {
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
