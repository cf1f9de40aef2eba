// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingTransport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import Testing

    /// The errors of libcurl's results whose texts decide.
    @Suite struct CurlErrorsTests {
        private func error(_ result: Int32, _ text: String) -> DataLoaderError {
            CurlErrors.error(
                result, text: text, systemError: 0,
                state: TransferState(response: ResponseGuard(byteLimit: 1_000)))
        }

        // A shared connection that the peer resets while another load is about to send on it.
        @Test(
            arguments: [16, 92] as [Int32],
            [
                "Send failure: Broken pipe", "Recv failure: Connection reset by peer",
                "OpenSSL SSL_write: Broken pipe, errno 32",
                "OpenSSL SSL_read: Connection reset by peer, errno 104",
                "SSL_write() returned SYSCALL, errno = 32",
            ])
        func `a connection that dies below HTTP/2 is reported as reset`(result: Int32, text: String)
        {
            #expect(error(result, text) == .connectionReset)
        }

        @Test(
            arguments: [
                (16, "nghttp2 recv error -902: The user callback function failed"),
                (92, "HTTP/2 stream 1 was not closed cleanly: PROTOCOL_ERROR (err 1)"),
            ] as [(Int32, String)])
        func `a violation of HTTP/2 by the peer is not reported as a reset`(
            result: Int32, text: String
        ) {
            #expect(error(result, text) == .http2(reason: text))
        }
    }
#endif
