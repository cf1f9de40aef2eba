// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Connections that their server ends after one use and before the next: what is written to
        /// them is lost.
        @Suite struct CurlEndedTests {
            private let scene: TrustScene

            /// libcurl 7.88.1 reuses a connection of TLS after its peer's close_notify; nothing is
            /// done about it there.
            private static let checksTLSConnections =
                (CurlLibrary.shared?.version ?? 0) >= 0x08_05_00

            init() throws {
                scene = try TrustScene()
            }

            /// Sends two POSTs, the second one after the server has closed the connection.
            private func play(
                _ server: LoopbackServer, _ scheme: String, _ http2: HTTP2Use = .never
            ) async throws {
                let transport = CurlTransport()
                var post = TransportRequest(
                    method: .post, url: testURL("\(scheme)://a.origin.test:\(server.port)/"))
                post.address = "127.0.0.1:\(server.port)"
                post.serverTrustPolicy = try scene.policy()
                post.http2 = http2
                post.body = .data(Data("pay".utf8))
                #expect(await transport.run(post).text == "fine")
                await server.waitForClosedConnections(1)
                let record = await transport.run(post)
                #expect(record.text == "fine")
                #expect(!record.report.reusedConnection)
                #expect(await transport.run(post).report.reusedConnection)
                #expect(server.connectionCount == 2)
            }

            /// Responds, and then closes the first connection without having announced it.
            private let closing = LoopbackScript.perConnection { number in
                let fine = LoopbackResponse.ok("fine")
                return .answers(number == 0 ? [fine.followed(by: .flush, .close)] : [fine])
            }

            @Test func `a POST is not sent on an HTTP/1.1 connection that has ended`()
                async throws
            {
                let server = try LoopbackServer(script: closing)
                try await play(server, "http")
                #expect(server.requests.map(\.connection) == [0, 1, 1])
            }

            @Test(.enabled(if: checksTLSConnections))
            func `a POST is not sent on a TLS connection that has ended`() async throws {
                let server = try scene.peer(try scene.identity(), .init(), closing)
                try await play(server, "https")
                #expect(server.requests.map(\.connection) == [0, 1, 1])
            }

            @Test(.enabled(if: checksTLSConnections))
            func `a POST is not sent on an HTTP/2 connection that has ended`() async throws {
                let peer = HTTP2Peer { request, stream in
                    HTTP2Peer.response(stream, "fine") + (request == 0 ? [.close] : [])
                }
                let server = try scene.peer(
                    try scene.identity(isHTTP2: true), .init(), peer.script)
                try await play(server, "https", .always)
                #expect(peer.requests == 3)
            }
        }
    }
#endif
