// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What failed on the way to a proxy, or what the proxy refused; nothing reached the server.
///
/// Later versions may add cases: a `switch` outside the package needs `@unknown default`.
@nonexhaustive public enum ProxyFault: Hashable, Sendable {
    /// The proxy's host has no address, or no resolver answered within the connect limit.
    case dns
    /// The proxy refused the connection or could not be reached.
    case connectRefused
    /// The proxy was not connected, or did not open the tunnel, within the connect limit.
    case connectTimeout
    /// The TLS handshake with the proxy failed for a reason other than its certificate.
    case tls
    /// The proxy's certificate was not accepted.
    case certificate(reason: String)
    /// The proxy closed or reset the connection before it opened the tunnel.
    case connectionReset
    /// The proxy's response to CONNECT breaks HTTP's framing, or is too large.
    case framing(reason: String)
    /// The proxy refused with this status: 407 for a missing or wrong credential, others for a
    /// tunnel.
    ///
    /// A refusal of a plain http request other than 407 is not told from a response of the server,
    /// and ends a load as one.
    case status(HTTPStatus)

    /// Whether another attempt may succeed.
    package var isTemporary: Bool {
        switch self {
        case .dns, .connectRefused, .connectTimeout, .tls, .connectionReset: true
        case .certificate, .framing: false
        case .status(let status): [408, 429, 500, 502, 503, 504].contains(status.rawValue)
        }
    }

    /// Whether the proxy cannot be reached at all.
    var concernsConnectivity: Bool {
        switch self {
        case .dns, .connectRefused, .connectTimeout: true
        default: false
        }
    }

    /// Makes the fault from the error of the hop to the proxy; nil for an error of this program.
    package init?(_ kind: DataLoaderError.Kind) {
        switch kind {
        case .dns: self = .dns
        case .connectRefused: self = .connectRefused
        case .connectTimeout: self = .connectTimeout
        case .tls: self = .tls
        case .certificate(let reason): self = .certificate(reason: reason)
        case .framing(let reason): self = .framing(reason: reason)
        case .headTooLarge: self = .framing(reason: "the head is too large")
        case .connectionReset, .noResponse, .truncatedHead, .truncatedBody, .transport:
            self = .connectionReset
        default: return nil
        }
    }
}

extension ProxyFault: CustomStringConvertible {
    /// The fault in words.
    public var description: String {
        switch self {
        case .dns: "its name cannot be resolved"
        case .connectRefused: "it refused the connection"
        case .connectTimeout: "it opened no connection within the connect limit"
        case .tls: "its TLS handshake failed"
        case .certificate(let reason): "its certificate was not accepted: \(reason)"
        case .connectionReset: "it closed the connection"
        case .framing(let reason): "its response breaks HTTP's framing: \(reason)"
        case .status(let status): "it answered \(status)"
        }
    }
}
