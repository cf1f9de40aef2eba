// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderError.Kind {
    /// Whether the server may have acted on the request although the load has no response.
    var mayHaveBeenProcessed: Bool {
        switch self {
        case .timedOut(_, let mayHaveBeenProcessed): mayHaveBeenProcessed
        case .noResponse, .connectionReset, .idleTimeout, .truncatedHead, .truncatedBody, .framing,
            .headTooLarge, .bodyTooLarge, .decode, .http2, .responseSink, .interceptor,
            .digestMismatch, .transport, .status,
            .undecodable:
            true
        default: false
        }
    }
}

extension DataLoaderError {
    /// The error of a load that would send a credential over plain http to another machine.
    package static let plainCredentialElsewhere = cannotAuthenticate(
        reason: "a credential over plain http, and a peer that is not this machine")

    /// Whether another address of the same host may succeed.
    ///
    /// Nothing was written to the server. Certificate errors are excluded, because they must not be
    /// skipped silently.
    package var concernsAddress: Bool {
        switch kind {
        case .dns, .connectRefused, .connectTimeout, .tls, .connectionReset, .noResponse: true
        default: false
        }
    }

    /// Whether the load has a whole response, whose status is an error.
    package var isWholeResponse: Bool {
        if case .status = kind { true } else { false }
    }

    /// Whether the load could not connect at all.
    package var concernsConnectivity: Bool {
        switch kind {
        case .dns, .connectRefused, .connectTimeout: true
        case .proxy(let fault): fault.concernsConnectivity
        default: false
        }
    }
}
