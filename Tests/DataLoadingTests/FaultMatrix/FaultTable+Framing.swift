// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting

    extension FaultTable {
        /// Rows 10 and 13 to 15: framing that two readers would read differently.
        static let framingFaults: [Fault] = [
            (10, "a chunk size that is none", "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            (
                10, "a chunk size past any number",
                "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nhello\r\n"
            ),
            (
                10, "a second chunk size that is none",
                "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n-5\r\nhello\r\n"
            ),
            (13, "two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
            (
                14, "a length and chunks",
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            ),
            (15, "a negative length", "Content-Length: -5\r\n\r\nhello"),
            (15, "a length with a sign", "Content-Length: +2\r\n\r\nhello"),
            (
                15, "a length past any number",
                "Content-Length: 100000000000000000000000\r\n\r\nhello"
            ),
        ].map { number, title, rest in
            .text(number, title, .text("HTTP/1.1 200 OK\r\n" + rest), meant: "hellohello") {
                FaultExpectation("framing", in: $0)
            }
        }
    }
#endif
