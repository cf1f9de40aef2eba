// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Maps the session's errors to errors of a load.
enum URLSessionErrors {
    /// Returns the error of a task, by whether its head came.
    static func error(_ error: any Error, hasHead: Bool) -> DataLoaderError {
        DataLoaderError(kind(of: error, hasHead: hasHead), underlyingError: error)
    }

    private static func kind(of error: any Error, hasHead: Bool) -> DataLoaderError.Kind {
        let cocoa = error as NSError
        guard let url = error as? URLError else {
            return .transport(reason: "\(cocoa.domain) \(cocoa.code)")
        }
        switch url.code {
        case .cannotFindHost, .dnsLookupFailed: return .dns
        case .cannotConnectToHost, .notConnectedToInternet: return .connectRefused
        case .networkConnectionLost: return .connectionReset
        case .timedOut: return .idleTimeout
        case .cancelled, .userCancelledAuthentication: return .cancelled
        case .badServerResponse: return hasHead ? .truncatedBody : .noResponse
        case .cannotParseResponse, .unsupportedURL: return .framing(reason: "not HTTP")
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired:
            return .tls
        case .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot:
            return .certificate(reason: "\(url.code.rawValue)")
        case .cannotDecodeRawData, .cannotDecodeContentData:
            return .decode(reason: "\(url.code.rawValue)")
        case .requestBodyStreamExhausted:
            return .requestBody(reason: "the body cannot be read")
        default:
            return URLSessionTransport.error(byTextOf: cocoa, hasHead: hasHead)?.kind
                ?? .transport(reason: "\(cocoa.domain) \(cocoa.code)")
        }
    }

    /// Returns how much of the request was sent: nothing only where that is certain.
    ///
    /// An attempt that failed to connect may have sent its request on another connection before.
    static func sent(
        _ error: DataLoaderError, hasHead: Bool, bodyBytes: Int64, mayHaveResent: Bool
    ) -> SentState {
        guard !hasHead else { return .headReceived }
        guard bodyBytes == 0, !mayHaveResent else { return .written }
        switch error.kind {
        case .dns, .connectRefused, .certificate: return .nothingWritten
        default: return .written
        }
    }
}
