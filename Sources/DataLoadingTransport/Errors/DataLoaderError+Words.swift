// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension DataLoaderError.Kind: CustomStringConvertible {
    /// The failure in words, without anything of the request.
    public var description: String {
        switch self {
        case .invalidRequest(let fault): "the request is invalid: \(fault)"
        case .chunksNotSupported: "the delegate or the factory does not support chunks"
        case .overloaded: "too many loads are waiting"
        case .rateLimited(let wait):
            "the wait of \(wait.shortText) for a slot would outlast the deadline"
        case .cannotAuthenticate(let reason): "the request cannot be authorised: \(reason)"
        case .invalidConfiguration(let reason): "the configuration is invalid: \(reason)"
        case .notCached: "the cache has no response"
        case .serviceInvalidated: "the service was shut down"
        case .resetInProgress: "the factory or service is being reset"
        case .cancelled: "the load was cancelled"
        case .reset: "a reset ended the load"
        case .timedOut(let limit, let isProcessed):
            "the deadline of \(limit.shortText) passed; the server "
                + (isProcessed ? "may have processed the request" : "did not get the request")
        case .dns: "the name of the host cannot be resolved"
        case .connectRefused: "the connection was refused"
        case .connectTimeout: "no connection within the connect limit"
        case .tls: "the TLS handshake failed"
        case .certificate(let reason): Self.text("a certificate was not accepted", reason)
        case .pin: "the server's public key is not among the pinned keys"
        case .privateAddress: "the server's address is not public"
        case .proxy(let fault): "the proxy failed: \(fault)"
        case .resources(let reason): Self.text("a resource of the process is exhausted", reason)
        case .unsupported(let reason): Self.text("the transport does not support this", reason)
        case .noResponse: "the connection closed before a response"
        case .connectionReset: "the peer reset the connection"
        case .idleTimeout: "no byte moved within the idle limit"
        case .truncatedHead: "the connection closed inside the response head"
        case .truncatedBody: "the connection closed before the body was complete"
        case .framing(let reason): Self.text("the response breaks HTTP's framing", reason)
        case .headTooLarge: "the response head is too large"
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .decode(let reason): Self.text("the body cannot be decoded", reason)
        case .http2(let reason): Self.text("HTTP/2 failed", reason)
        case .redirectLimit: "too many redirects, or a cycle"
        case .redirectRefused(let reason): Self.text("a redirect was refused", reason)
        case .requestBody(let reason): Self.text("the request body cannot be sent", reason)
        case .responseSink(let reason): Self.text("the sink failed", reason)
        case .interceptor(let reason): Self.text("an interceptor failed", reason)
        case .digestMismatch: "the body does not have the expected SHA-256"
        case .transport(let reason): Self.text("the transport failed", reason)
        case .status(let status): "the server answered \(status)"
        case .undecodable(let status, let reason):
            Self.text("the body of the \(status?.description ?? "response") is no value", reason)
        }
    }

    private static func text(_ what: String, _ reason: String) -> String {
        reason.isEmpty ? what : "\(what): \(reason)"
    }
}
