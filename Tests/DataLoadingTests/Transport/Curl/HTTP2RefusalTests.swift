// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Requests that a peer of HTTP/2 says it did not process.
        @Suite struct HTTP2RefusalTests {
            private let scene: TrustScene
            private let identity: TestIdentity

            init() throws {
                scene = try TrustScene()
                identity = try scene.identity(isHTTP2: true)
            }

            // RFC 9113 section 6.8
            @Test func `POSTs after a GOAWAY's last stream are sent again, each processed once`()
                async throws
            {
                let worked = EventRecorder<String>()
                let peer = BodyPeer { connection, bodies in
                    // The first request opens the connection.
                    guard connection == 0, bodies.count > 1 else {
                        return bodies.last.map { last in
                            worked.record(last.body)
                            return BodyPeer.answer(last.stream)
                        } ?? []
                    }
                    guard bodies.count == 5 else { return [] }
                    worked.record(bodies[1].body)
                    return [.goAway(last: bodies[1].stream)] + BodyPeer.answer(bodies[1].stream)
                }
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                _ = try await loader.response(for: scene.request(.post, server, body: "first"))
                let names = ["a", "b", "c", "d"]
                let metrics = try await withThrowingTaskGroup(of: LoadMetrics.self) { group in
                    for name in names {
                        let post = scene.request(.post, server, body: name)
                        group.addTask { try await loader.response(for: post).metrics }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(worked.elements.sorted() == names + ["first"])
                #expect(metrics.map(\.attempts).sorted() == [1, 2, 2, 2])
                #expect(metrics.map(\.replacedConnections).sorted() == [0, 1, 1, 1])
                #expect(metrics.allSatisfy { $0.retries == 0 })
                #expect(service.runtime.originHealth.busyOrigins == 0)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `POSTs after a GOAWAY are sent on another connection`()
                async throws
            {
                let peer = HTTP2Peer { request, stream in
                    HTTP2Peer.response(stream, "fine")
                        + (request == 0 ? [.send([.goAway(last: stream)]), .stall] : [])
                }
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                for _ in 0..<3 {
                    let response = try await loader.response(
                        for: scene.request(.post, server, body: "pay"))
                    #expect(response.body == Data("fine".utf8))
                }
                #expect(peer.requests == 3)
                #expect(server.connectionCount == 2)
                await service.shutDown(gracePeriod: .zero)
            }

            // RFC 9113 section 8.7
            @Test func `a POST whose stream was refused is sent again`() async throws {
                let peer = HTTP2Peer { request, stream in
                    request == 0
                        ? [.send([.reset(stream, 7)])] : HTTP2Peer.response(stream, "fine")
                }
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                let response = try await loader.response(
                    for: scene.request(.post, server, body: "pay"))
                #expect(response.body == Data("fine".utf8))
                #expect(response.metrics.attempts == 2)
                #expect(response.metrics.replacedConnections == 1)
                #expect(peer.requests == 2)
                await service.shutDown(gracePeriod: .zero)
            }

            // PROTOCOL_ERROR, INTERNAL_ERROR, CANCEL
            @Test(arguments: [1, 2, 8] as [UInt32])
            func `a POST whose stream was reset for another reason is not sent again`(code: UInt32)
                async throws
            {
                let peer = HTTP2Peer { _, stream in [.send([.reset(stream, code)])] }
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = scene.request(.post, server, body: "pay")
                post.retryPolicy = .immediately(maximumRetries: 3)
                let error = await loader.failure(of: post)
                #expect(error?.name == "http2")
                #expect(error?.mayHaveBeenProcessed == true)
                #expect(peer.requests == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            // HTTP_1_1_REQUIRED, after which libcurl would resend the request by itself.
            @Test func `a POST is sent once to a server that requires HTTP/1.1, with its error`()
                async throws
            {
                let peer = HTTP2Peer { _, stream in [.send([.reset(stream, 13)])] }
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                let error = await loader.failure(of: scene.request(.post, server))
                #expect(error == .http2(reason: "HTTP/1.1 required"))
                #expect(peer.requests == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `GETs whose shared connection dies are each sent once more`() async throws {
                let peer = HTTP2Peer { request, stream in
                    switch request {
                    case 0, 1: []
                    case 2: [.reset]
                    default: HTTP2Peer.response(stream, "fine")
                    }
                }
                let server = try scene.peer(identity, .init(), peer.script)
                // One connection, however long its handshake takes.
                let service = scene.service(
                    try scene.policy(), server, http2: .always,
                    over: CurlTransport(idle: IdleConnections(leaderTime: .seconds(3_600))))
                let loader = service.makeFactory().makeDataLoader()
                let attempts = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<3 {
                        let get = scene.request(.get, server)
                        group.addTask { try await loader.response(for: get).metrics.attempts }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(attempts == [2, 2, 2])
                #expect(peer.requests == 6)
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
