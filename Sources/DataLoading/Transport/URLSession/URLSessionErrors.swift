// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// What the session's errors mean for a load.
    enum URLSessionErrors {
        /// The failure of a task, by how far it had got.
        static func error(_ error: any Error, hasHead: Bool) -> DataLoaderError {
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
                return .requestBody(reason: "it cannot be read")
            default:
                return URLSessionTransport.error(byTextOf: cocoa, hasHead: hasHead)
                    ?? .transport(reason: "\(cocoa.domain) \(cocoa.code)")
            }
        }

        /// How far the request had got: nothing was written only where that is certain.
        static func sent(_ error: DataLoaderError, hasHead: Bool) -> SentState {
            guard !hasHead else { return .headReceived }
            switch error {
            case .dns, .connectRefused, .certificate: return .nothingWritten
            default: return .written
            }
        }
    }
#endif
