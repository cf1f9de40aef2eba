// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The names of the kinds of errors; a status has none but its number.
package enum ErrorName: String, CaseIterable, Sendable {
    case invalidRequest = "invalid_request"
    case chunksNotSupported = "chunks_not_supported"
    case overloaded
    case rateLimited = "rate_limited"
    case cannotAuthenticate = "cannot_authenticate"
    case invalidConfiguration = "invalid_configuration"
    case notCached = "not_cached"
    case serviceInvalidated = "service_invalidated"
    case resetInProgress = "reset_in_progress"
    case cancelled
    case reset
    case timedOut = "timed_out"
    case dns
    case connectRefused = "connect_refused"
    case connectTimeout = "connect_timeout"
    case tls
    case certificate
    case pin
    case privateAddress = "private_address"
    case proxy
    case resources
    case unsupported
    case noResponse = "no_response"
    case connectionReset = "connection_reset"
    case idleTimeout = "idle_timeout"
    case truncatedHead = "truncated_head"
    case truncatedBody = "truncated_body"
    case framing
    case headTooLarge = "head_too_large"
    case bodyTooLarge = "body_too_large"
    case decode
    case http2
    case redirectLimit = "redirect_limit"
    case redirectRefused = "redirect_refused"
    case requestBody = "request_body"
    case responseSink = "response_sink"
    case interceptor
    case digestMismatch = "digest_mismatch"
    case transport
    case undecodable
}

extension DataLoaderError.Kind {
    /// The name of the kind; nil for a status.
    package var errorName: ErrorName? {
        switch self {
        case .invalidRequest: .invalidRequest
        case .chunksNotSupported: .chunksNotSupported
        case .overloaded: .overloaded
        case .rateLimited: .rateLimited
        case .cannotAuthenticate: .cannotAuthenticate
        case .invalidConfiguration: .invalidConfiguration
        case .notCached: .notCached
        case .serviceInvalidated: .serviceInvalidated
        case .resetInProgress: .resetInProgress
        case .cancelled: .cancelled
        case .reset: .reset
        case .timedOut: .timedOut
        case .dns: .dns
        case .connectRefused: .connectRefused
        case .connectTimeout: .connectTimeout
        case .tls: .tls
        case .certificate: .certificate
        case .pin: .pin
        case .privateAddress: .privateAddress
        case .proxy: .proxy
        case .resources: .resources
        case .unsupported: .unsupported
        case .noResponse: .noResponse
        case .connectionReset: .connectionReset
        case .idleTimeout: .idleTimeout
        case .truncatedHead: .truncatedHead
        case .truncatedBody: .truncatedBody
        case .framing: .framing
        case .headTooLarge: .headTooLarge
        case .bodyTooLarge: .bodyTooLarge
        case .decode: .decode
        case .http2: .http2
        case .redirectLimit: .redirectLimit
        case .redirectRefused: .redirectRefused
        case .requestBody: .requestBody
        case .responseSink: .responseSink
        case .interceptor: .interceptor
        case .digestMismatch: .digestMismatch
        case .transport: .transport
        case .status: nil
        case .undecodable: .undecodable
        }
    }

    /// A short name for logs and metrics; it contains nothing of the request.
    var name: String {
        if case .status(let status) = self { return "\(status.rawValue)" }
        return errorName?.rawValue ?? ""
    }
}
