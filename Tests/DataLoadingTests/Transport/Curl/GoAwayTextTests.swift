// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import Testing

    extension SocketTests {
        /// The streams that a GOAWAY concerns, which libcurl reports only by a text.
        @Suite struct GoAwayTextTests {
            private let loop: CurlLoop
            /// Two attempts on streams 3 and 5 of one connection.
            private let transfers: [CurlTransfer]

            init() throws {
                let loop = try CurlLoop.make()
                for _ in 0..<2 {
                    loop.start(
                        CurlTask(
                            request: TransportRequest(url: testURL("https://127.0.0.1:1/")),
                            sink: AttemptRecorder(), mailbox: loop.mailbox))
                }
                transfers = Array(loop.running.values)
                try #require(transfers.count == 2)
                for (transfer, stream) in zip(transfers, [3, 5] as [UInt32]) {
                    transfer.state.connection = ConnectionName(
                        localPort: 40_000, peer: [127, 0, 0, 1], peerPort: 1)
                    transfer.state.stream = stream
                }
                self.loop = loop
            }

            private func hear(_ text: String, _ transfer: CurlTransfer) {
                Array(text.utf8).withUnsafeBytes { transfer.receiveText($0) }
            }

            @Test(arguments: ["recveived GOAWAY", "received GOAWAY"])
            func `a GOAWAY marks the later streams of its connection unprocessed`(text: String) {
                hear("\(text), error=0, last_stream=3\n", transfers[0])
                #expect(transfers.map(\.state.isUnprocessed) == [false, true])
                loop.close()
            }

            // libcurl reads what idle connections have received while it looks for one.
            @Test func `a GOAWAY of an idle connection does not affect one that died`() {
                hear("Connection died, retrying a fresh connect (retry count: 1)\n", transfers[0])
                hear("recveived GOAWAY, error=0, last_stream=1\n", transfers[0])
                #expect(transfers.map(\.state.isUnprocessed) == [false, false])
                loop.close()
            }
        }
    }
#endif
