// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// What libcurl's results mean for a load.
    ///
    /// Results alone do not tell a reset from broken chunks, so the texts decide where they must;
    /// the texts that are looked for are those of libcurl 7.66 to 8.x with OpenSSL.
    enum CurlErrors {
        /// The error of a result that is not zero.
        static func error(
            _ result: Int32, text: String, systemError: Int32, attempt: CurlAttempt
        ) -> DataLoaderError {
            if [35, 55, 56].contains(result), isRefusal(text) { return .certificate(reason: text) }
            // libcurl takes another connection when one has ended under a request: what that one met
            // with says nothing of the request, which was written.
            if attempt.sends > 0, concernConnecting.contains(result) { return .connectionReset }
            return switch result {
            case 1, 8: .framing(reason: text.isEmpty ? "not HTTP" : text)
            case 2: .resources(reason: "libcurl cannot start the transfer")
            case 3: .invalidRequest(.target)
            case 4, 48: .unsupported(reason: text.isEmpty ? "libcurl lacks a feature" : text)
            case 5, 6: .dns
            case 7:
                CurlTransfer.isExhaustion(systemError)
                    ? .resources(reason: text) : .connectRefused
            case 16 where isOfConnection(text), 92 where isOfConnection(text): .connectionReset
            case 16, 92: .http2(reason: text.isEmpty ? CurlQuirks.lostAnswer : text)
            case 18: truncation(attempt)
            case 26: .requestBody(reason: text)
            case 27: isInHead(attempt) ? .headTooLarge : .resources(reason: "memory")
            case 28: .connectTimeout
            case 35, 53, 54, 59, 64, 66: .tls
            case 51, 58, 60, 77, 82, 83, 91, 98: .certificate(reason: text)
            case 52: .noResponse
            case 55, 65: .connectionReset
            case 56: receiveError(text, attempt)
            case 61:
                CurlQuirks.isTransferCoding(text) ? .framing(reason: text) : .decode(reason: text)
            case 43 where CurlQuirks.isClientKey(text): .certificate(reason: text)
            case 90: .pin
            case 100: .headTooLarge
            default: .transport(reason: text.isEmpty ? "libcurl result \(result)" : text)
            }
        }

        /// Results that a connection, its names or its handshake lead to.
        private static let concernConnecting: Set<Int32> = [
            5, 6, 7, 28, 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98,
        ]

        /// What a connection that ended has cut off.
        private static func truncation(_ attempt: CurlAttempt) -> DataLoaderError {
            if attempt.response.isComplete { return .truncatedBody }
            return attempt.response.bytes > 0 ? .truncatedHead : .noResponse
        }

        /// Whether the server's alert says that it wants a certificate, or another one.
        ///
        /// RFC 8446 section 6.2. Of TLS 1.3 it comes when the handshake is over on this side.
        private static func isRefusal(_ text: String) -> Bool {
            let text = text.lowercased()
            return text.contains("alert")
                && ["certificate", "unknown ca"].contains { text.contains($0) }
        }

        /// Whether what HTTP/2 could not go on with is a connection that has died below it.
        private static func isOfConnection(_ text: String) -> Bool {
            ["Send failure: ", "Recv failure: ", "SSL_write() ", "OpenSSL SSL_"]
                .contains { text.hasPrefix($0) }
        }

        private static func isInHead(_ attempt: CurlAttempt) -> Bool {
            attempt.sends > 0 && !attempt.response.isComplete
        }

        /// 56 stands for a reset, for broken chunks, for a head past libcurl's own limit, and for a
        /// TLS connection that ended without its close_notify.
        private static func receiveError(
            _ text: String, _ attempt: CurlAttempt
        ) -> DataLoaderError {
            if text.contains("chunk") { return .framing(reason: text) }
            if text.contains("Too large response header") { return .headTooLarge }
            if text.contains("unexpected eof") || text.contains("non-properly terminated") {
                return truncation(attempt)
            }
            return .connectionReset
        }
    }
#endif
