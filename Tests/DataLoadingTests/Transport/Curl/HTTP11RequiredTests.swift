// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A server of HTTP/2 requires HTTP/1.1 for a request, as for a client certificate (RFC
        /// 9113 section 7).
        @Suite struct HTTP11RequiredTests {
            private let scene: RouteScene
            private let peer = HTTP2Peer { _, stream in [.send([.reset(stream, 13)])] }

            init() throws {
                scene = try RouteScene()
            }

            /// Its first connection speaks HTTP/2 and refuses the requests.
            private func server() throws -> LoopbackServer {
                let peer = peer
                return try scene.server(
                    .perConnection { $0 == 0 ? peer.script : RouteScene.echo },
                    isHTTP2: { $0 == 0 })
            }

            @Test func `a GET is sent again over HTTP/1.1 after HTTP_1_1_REQUIRED`() async throws {
                let server = try server()
                let service = scene.trust.service(
                    try scene.trust.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                for attempts in [2, 1] {
                    let response = try await loader.response(
                        for: scene.trust.request(.get, server, path: "GET"))
                    #expect(response.body == Data("/GET".utf8))
                    #expect(response.metrics.attempts == attempts)
                    #expect(response.metrics.replacedConnections == attempts - 1)
                    #expect(response.metrics.retries == 0)
                }
                #expect(peer.requests == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a POST is sent once before HTTP_1_1_REQUIRED, the next over HTTP/1.1`()
                async throws
            {
                let server = try server()
                let service = scene.trust.service(
                    try scene.trust.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                let post = scene.trust.request(.post, server, path: "POST")
                await #expect(throws: DataLoaderError.http2(reason: "HTTP/1.1 required")) {
                    _ = try await loader.response(for: post)
                }
                #expect(peer.requests == 1)
                #expect(server.requests.isEmpty)
                let response = try await loader.response(for: post)
                #expect(response.body == Data("/POST".utf8))
                #expect(peer.requests == 1)
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
