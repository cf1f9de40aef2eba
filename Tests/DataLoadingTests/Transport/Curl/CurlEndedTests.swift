// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Connections that their server has ended a moment after they were used, and before they are
        /// used again: what is written to them is lost.
        @Suite struct CurlEndedTests {
            private let scene: TrustScene

            /// libcurl 7.88.1 takes a connection of TLS whose peer has said that it closes it, and is left to.
            private static let hearsNotices = (CurlLibrary.shared?.version ?? 0) >= 0x08_05_00

            init() throws {
                scene = try TrustScene()
            }

            /// POSTs twice, the second time when the server has closed the connection.
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

            /// Answers, and closes the first connection after that, of which the answer says nothing.
            private let closing = LoopbackScript.perConnection { number in
                let fine = LoopbackResponse.ok("fine")
                return .answers(number == 0 ? [fine.followed(by: .flush, .close)] : [fine])
            }

            @Test func `a POST is not sent on a connection of HTTP/1.1 that has ended`()
                async throws
            {
                let server = try LoopbackServer(script: closing)
                try await play(server, "http")
                #expect(server.requests.map(\.connection) == [0, 1, 1])
            }

            @Test(.enabled(if: hearsNotices)) func `nor on one of TLS`() async throws {
                let server = try scene.peer(try scene.identity(), .init(), closing)
                try await play(server, "https")
                #expect(server.requests.map(\.connection) == [0, 1, 1])
            }

            @Test(.enabled(if: hearsNotices)) func `nor on one of HTTP/2`() async throws {
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
