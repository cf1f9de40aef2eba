// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// Maps libcurl's results to errors of a load.
///
/// Results do not tell a reset from broken chunks, so the error texts decide where they must.
/// The texts are those of libcurl 7.66 to 8.x with OpenSSL.
enum CurlErrors {
    /// Returns the error of a result other than zero.
    static func error(
        _ result: Int32, text: String, systemError: Int32, state: TransferState
    ) -> DataLoaderError {
        DataLoaderError(
            kind(result, text: text, systemError: systemError, state: state),
            underlyingError: LibcurlError(code: result, message: text))
    }

    private static func kind(
        _ result: Int32, text: String, systemError: Int32, state: TransferState
    ) -> DataLoaderError.Kind {
        if [35, 55, 56].contains(result), isCertificateRefusal(text) {
            return .certificate(reason: text)
        }
        if [16, 92].contains(result), isConnectionFailure(text) { return .connectionReset }
        // libcurl opens another connection when one has ended during a request. A failure of
        // that second connection says nothing about the request, which was written.
        if state.sends > 0, connectionResults.contains(result) { return .connectionReset }
        return switch result {
        case 1, 8: .framing(reason: text.isEmpty ? "not HTTP" : text)
        case 2: .resources(reason: "libcurl cannot start the transfer")
        case 3: .invalidRequest(.target)
        case 4, 48: .unsupported(reason: text.isEmpty ? "libcurl lacks a feature" : text)
        case 5, 6: .dns
        case 7:
            CurlTransfer.isExhaustion(systemError)
                ? .resources(reason: text) : .connectRefused
        case 16, 92: .http2(reason: text.isEmpty ? lostResponse : text)
        case 18: truncation(state)
        case 26: .requestBody(reason: text)
        case 27: isInHead(state) ? .headTooLarge : .resources(reason: "memory")
        case 28: .connectTimeout
        case 35, 53, 54, 59, 64, 66: .tls
        case 51, 58, 60, 77, 82, 83, 91, 98: .certificate(reason: text)
        case 52: .noResponse
        case 55, 65: .connectionReset
        case 56: receiveError(text, state)
        case 61:
            isTransferCoding(text) ? .framing(reason: text) : .decode(reason: text)
        case 43 where isClientKey(text): .certificate(reason: text)
        case 90: .pin
        case 100: .headTooLarge
        default: .transport(reason: text.isEmpty ? "libcurl result \(result)" : text)
        }
    }

    /// Results of name resolution, connecting and the handshake.
    private static let connectionResults: Set<Int32> = [
        5, 6, 7, 28, 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98,
    ]

    /// Returns the error of a connection that ended too early.
    private static func truncation(_ state: TransferState) -> DataLoaderError.Kind {
        if state.response.isComplete { return .truncatedBody }
        return state.response.bytes > 0 ? .truncatedHead : .noResponse
    }

    /// Whether the server's alert says that it requires a certificate, or another one.
    ///
    /// RFC 8446 section 6.2. With TLS 1.3 the alert comes after the handshake is complete on
    /// this side.
    private static func isCertificateRefusal(_ text: String) -> Bool {
        let text = text.lowercased()
        return text.contains("alert")
            && ["certificate", "unknown ca"].contains { text.contains($0) }
    }

    /// Whether a failure of HTTP/2 was caused by the connection below it.
    private static func isConnectionFailure(_ text: String) -> Bool {
        ["Send failure: ", "Recv failure: ", "SSL_write() ", "OpenSSL SSL_"]
            .contains { text.hasPrefix($0) }
    }

    private static func isInHead(_ state: TransferState) -> Bool {
        state.sends > 0 ? !state.response.isComplete : state.tunnel?.isOpen == false
    }

    /// Returns the error of result 56: a reset, broken chunks, a head past libcurl's own limit,
    /// or a TLS connection that ended without its close_notify.
    private static func receiveError(
        _ text: String, _ state: TransferState
    ) -> DataLoaderError.Kind {
        if text.contains("chunk") { return .framing(reason: text) }
        if text.contains("Too large response header") { return .headTooLarge }
        if text.contains("unexpected eof") || text.contains("non-properly terminated") {
            return truncation(state)
        }
        return .connectionReset
    }
}
