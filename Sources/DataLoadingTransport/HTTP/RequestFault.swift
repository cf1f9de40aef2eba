// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport

/// The part of a request that is not allowed on the wire.
public enum RequestFault: Error, Hashable, Sendable, OpaquelyMirrored {
    /// The URL is not an absolute http or https URL.
    case scheme
    /// The URL has no host, or one with a byte that is not allowed.
    case host
    /// The port is not 1 to 65535.
    case port
    /// The path or query has a control byte, white space or a byte outside ASCII.
    case target
    /// The URL has user information, which would appear in logs.
    case userInformation
    /// The method is not a token, or is CONNECT.
    case method
    /// A header name is not a token.
    case headerName(String)
    /// The value of the named header has CR, LF, NUL or another control byte.
    case headerValue(name: String)
    /// The named field is reserved for the transport: Content-Length, Transfer-Encoding, Connection
    /// and the like.
    case reservedHeader(String)
    /// The named property of the request has a value that it cannot have, such as an idle limit of
    /// zero.
    case setting(name: String)
    /// The request has a body, which HEAD and TRACE do not allow.
    case body
    /// The path segment of an endpoint at an index from 0 is empty, "." or "..".
    case pathSegment(index: Int)
    /// An endpoint has no base URL, or one with a query or a fragment.
    case baseURL
}

extension RequestFault: CustomStringConvertible {
    /// The fault, with the name of a header up to its first byte that is not a token character.
    ///
    /// The rest may be a secret that was put there by mistake.
    public var description: String {
        switch self {
        case .scheme: "the URL is not an absolute http or https URL"
        case .host: "the URL has no host, or a host with a byte that is not allowed"
        case .port: "the port is not 1 to 65535"
        case .target: "the path or query has a byte that is not allowed"
        case .userInformation: "the URL has user information"
        case .method: "the method is not a token, or is CONNECT"
        case .headerName(let name): "the header name \(Self.token(name)) is not a token"
        case .headerValue(let name): "the value of \(Self.token(name)) has a control byte"
        case .reservedHeader(let name): "\(Self.token(name)) is reserved for the transport"
        case .setting(let name): "\(name) has a value that it cannot have"
        case .body: "HEAD and TRACE allow no body"
        case .pathSegment(let index): "the path segment at index \(index) is empty, . or .."
        case .baseURL: "there is no base URL, or it has a query or a fragment"
        }
    }

    private static func token(_ name: String) -> String {
        let end = name.utf8.firstIndex { !$0.isTokenCharacter }
        return end.map { name[..<$0] + "…" } ?? name
    }
}
