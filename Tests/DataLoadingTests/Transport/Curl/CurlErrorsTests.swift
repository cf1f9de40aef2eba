// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import Testing

    /// What libcurl's results mean where its texts decide.
    @Suite struct CurlErrorsTests {
        private func error(_ result: Int32, _ text: String) -> DataLoaderError {
            CurlErrors.error(
                result, text: text, systemError: 0,
                attempt: CurlAttempt(response: ResponseGuard(byteLimit: 1_000)))
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
        func `a connection that dies under HTTP/2 is reset`(result: Int32, text: String) {
            #expect(error(result, text) == .connectionReset)
        }

        @Test(
            arguments: [
                (16, "nghttp2 recv error -902: The user callback function failed"),
                (92, "HTTP/2 stream 1 was not closed cleanly: PROTOCOL_ERROR (err 1)"),
            ] as [(Int32, String)])
        func `what a peer breaks of HTTP/2 is not`(result: Int32, text: String) {
            #expect(error(result, text) == .http2(reason: text))
        }
    }
#endif
