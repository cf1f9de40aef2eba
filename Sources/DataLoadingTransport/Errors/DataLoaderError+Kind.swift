// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderError {
    /// The kind of failure, with its values.
    ///
    /// Later versions may add cases: a `switch` outside the package needs `@unknown default`.
    @nonexhaustive public enum Kind: Hashable, Sendable {
        // MARK: Nothing was sent

        /// A part of the request is not allowed on the wire.
        case invalidRequest(RequestFault)
        /// `chunks` was set, but the delegate does not support chunks, or the factory has
        /// interceptors.
        case chunksNotSupported
        /// Too many loads were already waiting.
        ///
        /// `Limits.queue` loads wait for admission, or as many wait for user code of the load's
        /// factory (authorisers, retry and redirect policies), or 10,000 loads wait for the same
        /// credential of an authoriser.
        case overloaded
        /// The wait for a rate slot or for `Retry-After` would outlast the deadline.
        ///
        /// At a rate of zero a load waits for its deadline instead, and ends `.timedOut`, because
        /// another rate may be set at any time.
        case rateLimited(wait: Duration)
        /// The load could not be authorised.
        ///
        /// An authoriser refused the request, no authoriser has a method that the request names, or
        /// a credential would have been sent over plain http to another machine.
        ///
        /// The reason is the name of the authoriser and what went wrong. An `AuthorisationError` or
        /// a `DataLoaderError` is described in full. Any other error is described by the name of
        /// its type, because its own description may be secret. The error itself is the
        /// `underlyingError`.
        case cannotAuthenticate(reason: String)
        /// A setting is malformed, such as a host, an address, a rate or a time limit.
        ///
        /// A load ends with this error when the setting applies to it: an authoriser's hosts, an
        /// address, an ejection time, a rate, a time limit, a limit of numbers or sizes, a setting
        /// for retries, or the limit of idle connections. Functions that set or check a value throw
        /// it, such as `ConnectionSlots.setMaximum`, `RateLimiter.setRetryAfter` and `validate()`.
        case invalidConfiguration(reason: String)
        /// The load was restricted to the cache, which has no response for it.
        ///
        /// The factory was offline, or the request has the cache policy `.cacheOnly`.
        case notCached
        /// The service was invalidated or shut down.
        case serviceInvalidated
        /// The factory or service is being reset.
        case resetInProgress

        // MARK: Ended from outside

        /// The load was cancelled by its loader, a token, its task or the service, or its loader
        /// was dropped.
        case cancelled
        /// A reset of the factory or service ended the load.
        case reset
        /// The load's total deadline passed; waits and retries count.
        case timedOut(after: Duration, mayHaveBeenProcessed: Bool)

        // MARK: No connection

        /// The host has no address, or no resolver answered within the connect limit.
        case dns
        /// Every address refused the connection or could not be reached.
        case connectRefused
        /// The connection and its TLS handshake were not complete within the connect limit.
        case connectTimeout
        /// The TLS handshake failed for a reason other than the certificate.
        case tls
        /// A certificate was not accepted.
        ///
        /// Either the server's certificate is not trusted, or the server rejects this program's
        /// certificate or requires one, or the trust policy is malformed. A server that speaks TLS
        /// 1.3 rejects a client certificate after the handshake. The request may have been sent by
        /// then.
        case certificate(reason: String)
        /// The server's public key is not among the keys that the trust policy pins.
        case pin
        /// The peer's address is not public, and the service refuses such addresses.
        case privateAddress
        /// The proxy could not be reached, or refused; the server received nothing.
        case proxy(ProxyFault)
        /// The process is out of file descriptors, sockets or memory.
        ///
        /// Loads open none while fewer than 32 descriptors are free, or a quarter where fewer than 128 are
        /// allowed.
        case resources(reason: String)
        /// The transport does not support something that the request needs.
        case unsupported(reason: String)

        // MARK: A connection, but no whole response

        /// The connection closed before a byte of the response arrived.
        case noResponse
        /// The peer reset the connection.
        case connectionReset
        /// No byte was sent or received for the idle limit.
        case idleTimeout
        /// The connection closed inside the response head.
        case truncatedHead
        /// The connection closed before the body was complete.
        case truncatedBody
        /// The response breaks HTTP's framing rules, so no part of it can be trusted.
        case framing(reason: String)
        /// The response head is larger than `Limits.head`, or has more than 1,000 fields.
        case headTooLarge
        /// The decoded body is larger than `limit` bytes.
        case bodyTooLarge(limit: Int64)
        /// The body's content coding is broken or not supported.
        case decode(reason: String)
        /// The server violated HTTP/2 or refused the stream.
        case http2(reason: String)
        /// The load met more than 10 redirects, or a cycle.
        case redirectLimit
        /// A redirect was refused: it leads from https to http, or its URL has user information.
        case redirectRefused(reason: String)
        /// The request body could not be read, or could not be made again.
        case requestBody(reason: String)
        /// The sink failed to take the response body: no space, no permission, or an error of its
        /// own.
        case responseSink(reason: String)
        /// An interceptor threw an error that is not a `DataLoaderError`, or gave no response.
        ///
        /// The reason is the type of the error, because its description may be secret. The error
        /// itself is the `underlyingError`.
        case interceptor(reason: String)
        /// The body does not have the SHA-256 that its request names.
        case digestMismatch
        /// The transport failed in a way that has no case of its own.
        case transport(reason: String)

        // MARK: A whole response

        /// The status is not 200 to 299.
        case status(HTTPStatus)
        /// No value can be decoded from the body, whatever the status.
        ///
        /// A `Request`, a call or `DataLoaderResponse.decoded(as:using:)` throws it; a load does
        /// not end with it. The reason has the place in the body and what is wrong there, and
        /// nothing that the server sent. The error of the decoder is the `underlyingError`.
        case undecodable(status: HTTPStatus?, reason: String)
    }
}
