// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Errors of each kind, for transports, sinks, tests and comparisons.
extension DataLoaderError {
    /// A part of the request is not allowed on the wire.
    public static func invalidRequest(_ fault: RequestFault) -> Self {
        Self(.invalidRequest(fault), underlyingError: fault)
    }
    /// `chunks` was set, but the delegate does not support chunks, or the factory has interceptors.
    public static var chunksNotSupported: Self { Self(.chunksNotSupported) }
    /// Too many loads were already waiting.
    public static var overloaded: Self { Self(.overloaded) }
    /// The wait for a rate slot or for `Retry-After` would outlast the deadline.
    public static func rateLimited(wait: Duration) -> Self {
        Self(.rateLimited(wait: wait))
    }
    /// The load could not be authorised.
    public static func cannotAuthenticate(reason: String) -> Self {
        Self(.cannotAuthenticate(reason: reason))
    }
    /// A setting is malformed, such as a host, an address, a rate or a time limit.
    public static func invalidConfiguration(reason: String) -> Self {
        Self(.invalidConfiguration(reason: reason))
    }
    /// The load was restricted to the cache, which has no response for it.
    public static var notCached: Self { Self(.notCached) }
    /// The service was invalidated or shut down.
    public static var serviceInvalidated: Self { Self(.serviceInvalidated) }
    /// The factory or service is being reset.
    public static var resetInProgress: Self { Self(.resetInProgress) }
    /// The load was cancelled by its loader, a token, its task or the service, or its loader was
    /// dropped.
    public static var cancelled: Self { Self(.cancelled) }
    /// A reset of the factory or service ended the load.
    public static var reset: Self { Self(.reset) }
    /// The load's total deadline passed; waits and retries count.
    public static func timedOut(after limit: Duration, mayHaveBeenProcessed: Bool) -> Self {
        Self(.timedOut(after: limit, mayHaveBeenProcessed: mayHaveBeenProcessed))
    }
    /// The host has no address, or no resolver answered within the connect limit.
    public static var dns: Self { Self(.dns) }
    /// Every address refused the connection or could not be reached.
    public static var connectRefused: Self { Self(.connectRefused) }
    /// The connection and its TLS handshake were not complete within the connect limit.
    public static var connectTimeout: Self { Self(.connectTimeout) }
    /// The TLS handshake failed for a reason other than the certificate.
    public static var tls: Self { Self(.tls) }
    /// A certificate was not accepted.
    public static func certificate(reason: String) -> Self {
        Self(.certificate(reason: reason))
    }
    /// The server's public key is not among the keys that the trust policy pins.
    public static var pin: Self { Self(.pin) }
    /// The peer's address is not public, and the service refuses such addresses.
    public static var privateAddress: Self { Self(.privateAddress) }
    /// The proxy could not be reached, or refused; the server received nothing.
    public static func proxy(_ fault: ProxyFault) -> Self {
        Self(.proxy(fault))
    }
    /// The process is out of file descriptors, sockets or memory.
    public static func resources(reason: String) -> Self {
        Self(.resources(reason: reason))
    }
    /// The transport does not support something that the request needs.
    public static func unsupported(reason: String) -> Self {
        Self(.unsupported(reason: reason))
    }
    /// The connection closed before a byte of the response arrived.
    public static var noResponse: Self { Self(.noResponse) }
    /// The peer reset the connection.
    public static var connectionReset: Self { Self(.connectionReset) }
    /// No byte was sent or received for the idle limit.
    public static var idleTimeout: Self { Self(.idleTimeout) }
    /// The connection closed inside the response head.
    public static var truncatedHead: Self { Self(.truncatedHead) }
    /// The connection closed before the body was complete.
    public static var truncatedBody: Self { Self(.truncatedBody) }
    /// The response breaks HTTP's framing rules, so no part of it can be trusted.
    public static func framing(reason: String) -> Self {
        Self(.framing(reason: reason))
    }
    /// The response head is larger than `Limits.head`, or has more than 1,000 fields.
    public static var headTooLarge: Self { Self(.headTooLarge) }
    /// The decoded body is larger than `limit` bytes.
    public static func bodyTooLarge(limit: Int64) -> Self {
        Self(.bodyTooLarge(limit: limit))
    }
    /// The body's content coding is broken or not supported.
    public static func decode(reason: String) -> Self {
        Self(.decode(reason: reason))
    }
    /// The server violated HTTP/2 or refused the stream.
    public static func http2(reason: String) -> Self {
        Self(.http2(reason: reason))
    }
    /// The load met more than 10 redirects, or a cycle.
    public static var redirectLimit: Self { Self(.redirectLimit) }
    /// A redirect was refused: it leads from https to http, or its URL has user information.
    public static func redirectRefused(reason: String) -> Self {
        Self(.redirectRefused(reason: reason))
    }
    /// The request body could not be read, or could not be made again.
    public static func requestBody(reason: String) -> Self {
        Self(.requestBody(reason: reason))
    }
    /// The sink failed to take the response body: no space, no permission, or an error of its own.
    public static func responseSink(reason: String) -> Self {
        Self(.responseSink(reason: reason))
    }
    /// An interceptor threw an error that is not a `DataLoaderError`, or gave no response.
    public static func interceptor(reason: String) -> Self {
        Self(.interceptor(reason: reason))
    }
    /// The body does not have the SHA-256 that its request names.
    public static var digestMismatch: Self { Self(.digestMismatch) }
    /// The transport failed in a way that has no case of its own.
    public static func transport(reason: String) -> Self {
        Self(.transport(reason: reason))
    }
    /// The status is not 200 to 299.
    public static func status(_ status: HTTPStatus) -> Self {
        Self(.status(status))
    }
    /// No value can be decoded from the body.
    public static func undecodable(status: HTTPStatus?, reason: String) -> Self {
        Self(.undecodable(status: status, reason: reason))
    }
}
