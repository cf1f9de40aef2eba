// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a load has no successful response.
///
/// New cases may come: a `switch` outside the package needs `@unknown default`.
@nonexhaustive public enum DataLoaderError: Error, Hashable, Sendable {
    // MARK: Nothing was sent

    /// A part of the request may not go on the wire.
    case invalidRequest(RequestFault)
    /// `chunks` was set, and the delegate did not say that it supports them.
    case chunksNotSupported
    /// The queue of `Limits.queue` loads was full, or 10,000 loads wait for an authoriser.
    case overloaded
    /// The wait for a rate slot or for `Retry-After` would outlast the deadline.
    case rateLimited(wait: Duration)
    /// An authoriser refused, or no authoriser answers for the request.
    case cannotAuthenticate(reason: AuthenticationFailure)
    /// A setting that concerns the load is malformed: an authoriser's host, an address or a rate.
    case invalidConfiguration(reason: String)
    /// Offline or `.cacheOnly`, and nothing is stored.
    case notCached
    /// The service was invalidated or shut down.
    case serviceInvalidated
    /// The factory or service is being reset.
    case resetInProgress

    // MARK: Ended from outside

    /// The owner, a token, a dropped loader or the service cancelled the load.
    case cancelled
    /// A reset of the factory or service ended the load.
    case reset
    /// The load's total deadline passed, waits and retries included.
    case timedOut(after: Duration, mayHaveBeenProcessed: Bool)

    // MARK: No connection

    /// The host has no address, or no resolver answered within the connect limit.
    case dns
    /// Every address refused the connection or could not be reached.
    case connectRefused
    /// The connection or its TLS handshake did not come about within the connect limit.
    case connectTimeout
    /// The TLS handshake failed, other than for the certificate.
    case tls
    /// The server's certificate is not to be trusted, the server does not take this program's or
    /// wants one, or the trust policy is malformed. A server that speaks TLS 1.3 refuses a client after the
    /// handshake, when the request may have been sent.
    case certificate(reason: String)
    /// The server's public key is none of those that the trust policy pins.
    case pin
    /// The peer's address is no public one, and the service refuses those.
    case privateAddress
    /// The process is out of file descriptors, sockets or memory.
    case resources(reason: String)
    /// The transport cannot do what the request needs.
    case unsupported(reason: String)

    // MARK: A connection, but no whole response

    /// The connection closed without a byte of response.
    case noResponse
    /// The peer reset the connection.
    case connectionReset
    /// No byte moved either way for the idle limit.
    case idleTimeout
    /// The connection closed inside the response head.
    case truncatedHead
    /// The connection closed before the body was whole.
    case truncatedBody
    /// The response breaks HTTP's framing rules; nothing of it can be trusted.
    case framing(reason: String)
    /// The response head is larger than `Limits.head`, or has more than 1,000 fields.
    case headTooLarge
    /// The decoded body is larger than `limit` bytes.
    case bodyTooLarge(limit: Int64)
    /// The body's content coding is broken or unknown.
    case decode(reason: String)
    /// The peer broke HTTP/2 or refused the stream.
    case http2(reason: String)
    /// More redirects than the limit, or a cycle.
    case redirectLimit
    /// A redirect that may not be followed: its scheme, its user information, or the policy.
    case redirectRefused(reason: String)
    /// The request body could not be read, or not be made again.
    case requestBody(reason: String)
    /// The sink could not take the response body: no space, no permission, or its own failure.
    case responseSink(reason: String)
    /// A failure of the transport that has no case of its own.
    case transport(reason: String)

    // MARK: A whole response

    /// The status is not 200 to 299.
    case status(HTTPStatus)

    /// Whether the server may have acted on the request although the load has no response.
    public var mayHaveBeenProcessed: Bool {
        switch self {
        case .timedOut(_, let mayHaveBeenProcessed): mayHaveBeenProcessed
        case .noResponse, .connectionReset, .idleTimeout, .truncatedHead, .truncatedBody, .framing,
            .headTooLarge, .bodyTooLarge, .decode, .http2, .responseSink, .transport, .status:
            true
        default: false
        }
    }
}

/// The part of a request that may not go on the wire.
public enum RequestFault: Error, Hashable, Sendable {
    /// Not an absolute http or https URL.
    case scheme
    /// No host, or a byte that no host may have.
    case host
    /// A port that is not 1 to 65535.
    case port
    /// A path or query with a control byte, white space or a byte past ASCII.
    case target
    /// User information in the URL, which would end up in logs.
    case userInformation
    /// A method that is not a token.
    case method
    /// A header name that is not a token.
    case headerName(String)
    /// The value of this header has CR, LF, NUL or another control byte.
    case headerValue(name: String)
    /// A field that the transport owns: Content-Length, Transfer-Encoding, Connection and the like.
    case reservedHeader(String)
    /// A body where the method or an option forbids one.
    case body
}

extension RequestFault: CustomStringConvertible {
    /// The part, with the name of a header as far as it is one: what was put in its place by mistake
    /// may be a secret.
    public var description: String {
        switch self {
        case .scheme: "scheme"
        case .host: "host"
        case .port: "port"
        case .target: "target"
        case .userInformation: "userInformation"
        case .method: "method"
        case .headerName(let name): "headerName(\(Self.token(name)))"
        case .headerValue(let name): "headerValue(\(Self.token(name)))"
        case .reservedHeader(let name): "reservedHeader(\(Self.token(name)))"
        case .body: "body"
        }
    }

    private static func token(_ name: String) -> String {
        let end = name.utf8.firstIndex { !$0.isTokenCharacter }
        return end.map { name[..<$0] + "…" } ?? name
    }
}
