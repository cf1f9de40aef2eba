// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderError.Kind {
    /// A short name for logs and metrics; it contains nothing of the request.
    var name: String {
        switch self {
        case .invalidRequest: "invalid_request"
        case .chunksNotSupported: "chunks_not_supported"
        case .overloaded: "overloaded"
        case .rateLimited: "rate_limited"
        case .cannotAuthenticate: "cannot_authenticate"
        case .invalidConfiguration: "invalid_configuration"
        case .notCached: "not_cached"
        case .serviceInvalidated: "service_invalidated"
        case .resetInProgress: "reset_in_progress"
        case .cancelled: "cancelled"
        case .reset: "reset"
        case .timedOut: "timed_out"
        case .dns: "dns"
        case .connectRefused: "connect_refused"
        case .connectTimeout: "connect_timeout"
        case .tls: "tls"
        case .certificate: "certificate"
        case .pin: "pin"
        case .privateAddress: "private_address"
        case .proxy: "proxy"
        case .resources: "resources"
        case .unsupported: "unsupported"
        case .noResponse: "no_response"
        case .connectionReset: "connection_reset"
        case .idleTimeout: "idle_timeout"
        case .truncatedHead: "truncated_head"
        case .truncatedBody: "truncated_body"
        case .framing: "framing"
        case .headTooLarge: "head_too_large"
        case .bodyTooLarge: "body_too_large"
        case .decode: "decode"
        case .http2: "http2"
        case .redirectLimit: "redirect_limit"
        case .redirectRefused: "redirect_refused"
        case .requestBody: "request_body"
        case .responseSink: "response_sink"
        case .interceptor: "interceptor"
        case .digestMismatch: "digest_mismatch"
        case .transport: "transport"
        case .status(let status): "\(status.rawValue)"
        case .undecodable: "undecodable"
        }
    }
}
