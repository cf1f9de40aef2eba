// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// What a peer of HTTP/2 says it did nothing with, and what it answers before it has all.
        @Suite struct HTTP2RefusalTests {
            private let scene: TrustScene
            private let identity: TestIdentity

            init() throws {
                scene = try TrustScene()
                identity = try scene.identity(isHTTP2: true)
            }

            private func request(
                _ method: HTTPMethod, _ server: LoopbackServer, body: String? = nil
            ) -> DataLoaderRequest {
                var request = DataLoaderRequest(
                    url: testURL("https://a.origin.test:\(server.port)/"))
                request.method = method
                request.body = body.map { .data(Data($0.utf8)) }
                return request
            }

            /// The error of a load that has one.
            private func failure(
                of request: DataLoaderRequest, _ loader: DataLoader
            ) async -> DataLoaderError? {
                do {
                    _ = try await loader.response(for: request)
                    return nil
                } catch {
                    return error as? DataLoaderError
                }
            }

            // RFC 9113 section 6.8
            @Test func `POSTs that a GOAWAY leaves out are sent again, each processed once`()
                async throws
            {
                let worked = EventRecorder<String>()
                let peer = BodyPeer { connection, bodies in
                    // The first request of all makes the connection.
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
                _ = try await loader.response(for: request(.post, server, body: "first"))
                let names = ["a", "b", "c", "d"]
                let metrics = try await withThrowingTaskGroup(of: LoadMetrics.self) { group in
                    for name in names {
                        let post = request(.post, server, body: name)
                        group.addTask { try await loader.response(for: post).metrics }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(worked.elements.sorted() == names + ["first"])
                #expect(metrics.map(\.attempts).sorted() == [1, 2, 2, 2])
                #expect(metrics.map(\.replacedConnections).sorted() == [0, 1, 1, 1])
                #expect(metrics.allSatisfy { $0.retries == 0 })
                #expect(service.runtime.budget.busyOrigins == 0)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `POSTs behind a GOAWAY that has been read are sent on another connection`()
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
                        for: request(.post, server, body: "pay"))
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
                    for: request(.post, server, body: "pay"))
                #expect(response.body == Data("fine".utf8))
                #expect(response.metrics.attempts == 2)
                #expect(response.metrics.replacedConnections == 1)
                #expect(peer.requests == 2)
                await service.shutDown(gracePeriod: .zero)
            }

            // PROTOCOL_ERROR, INTERNAL_ERROR, CANCEL
            @Test(arguments: [1, 2, 8] as [UInt32])
            func `a POST whose stream was ended for another reason is not`(code: UInt32)
                async throws
            {
                let peer = HTTP2Peer { _, stream in [.send([.reset(stream, code)])] }
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = request(.post, server, body: "pay")
                post.retryPolicy = .immediately(maximumRetries: 3)
                let error = await failure(of: post, loader)
                #expect(error?.kind == "http2")
                #expect(error?.mayHaveBeenProcessed == true)
                #expect(peer.requests == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            // HTTP_1_1_REQUIRED, after which libcurl would send the request again by itself.
            @Test func `a server that wants HTTP/1.1 is sent a POST once, and the error says so`()
                async throws
            {
                let peer = HTTP2Peer { _, stream in [.send([.reset(stream, 13)])] }
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                let error = await failure(of: request(.post, server), loader)
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
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                let attempts = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<3 {
                        let get = request(.get, server)
                        group.addTask { try await loader.response(for: get).metrics.attempts }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(attempts == [2, 2, 2])
                #expect(peer.requests == 6)
                await service.shutDown(gracePeriod: .zero)
            }

            // nginx answers so by `return`, and takes nothing more of the body.
            @Test(arguments: [204, 5, 40_000])
            func `an answer that is whole ends an upload whose window stays closed`(
                length: Int
            ) async throws {
                let peer = BodyPeer(early: { stream in
                    // ":status: 204" by its index
                    let empty = HTTP2Frame(
                        kind: .headers, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream,
                        stream: stream, payload: [0x89])
                    guard length != 204 else { return [empty] }
                    var rest = String(repeating: "x", count: length)[...]
                    var frames = [HTTP2Frame.head(stream, length: length)]
                    repeat {
                        let part = rest.prefix(16_000)
                        rest = rest.dropFirst(16_000)
                        frames.append(.data(stream, String(part), isLast: rest.isEmpty))
                    } while !rest.isEmpty
                    return frames
                })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = request(.post, server)
                post.body = .data(Data(count: 1 << 20))
                let began = ContinuousClock.now
                let response = try await loader.response(for: post)
                #expect(response.body?.count == (length == 204 ? 0 : length))
                #expect(response.metrics.attempts == 1)
                #expect(ContinuousClock.now - began < .seconds(10) * patience)
                await service.shutDown(gracePeriod: .zero)
            }

            // haproxy, whose window closes some time after the answer.
            @Test func `an answer that is whole ends an upload that libcurl goes on with`()
                async throws
            {
                let window: UInt32 = 1 << 20
                let peer = BodyPeer(early: { stream in
                    [.window(0, window), .window(stream, window)] + BodyPeer.answer(stream)
                })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = request(.post, server)
                post.body = .stream { InputStream(data: Data(count: 4 << 20)) }
                let response = try await loader.response(for: post)
                #expect(response.body == Data("fine".utf8))
                #expect(response.metrics.attempts == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test(arguments: [true, false])
            func `an answer that is cut off while a body is sent is no success`(hasLength: Bool)
                async throws
            {
                let peer = BodyPeer(early: { stream in
                    [
                        .head(stream, length: hasLength ? 10 : nil),
                        .data(stream, "12345", isLast: false), .reset(stream, 8),
                    ]
                })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = request(.post, server)
                post.body = .data(Data(count: 1 << 20))
                let error = await failure(of: post, loader)
                #expect(error?.kind == "http2")
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }

    /// A peer that answers by the bodies that its connections have brought, or at once.
    private final class BodyPeer: Sendable {
        typealias Request = (stream: UInt32, body: String)

        private let whole: @Sendable (Int, [Request]) -> [HTTP2Frame]
        private let early: (@Sendable (UInt32) -> [HTTP2Frame])?

        /// Answers each request that is whole, told those of its connection so far.
        init(_ whole: @escaping @Sendable (Int, [Request]) -> [HTTP2Frame]) {
            self.whole = whole
            early = nil
        }

        /// Answers each head.
        init(early: @escaping @Sendable (UInt32) -> [HTTP2Frame]) {
            whole = { _, _ in [] }
            self.early = early
        }

        static func answer(_ stream: UInt32) -> [HTTP2Frame] {
            [.head(stream, length: 4), .data(stream, "fine", isLast: true)]
        }

        var script: LoopbackScript {
            .perConnection { number in .converse { try self.serve(number, $0) } }
        }

        private func serve(_ connection: Int, _ stream: any ByteStream) throws {
            guard try HTTP2Peer.read(24, from: stream).count == 24 else { return }
            try HTTP2Peer.send([.settings], to: stream)
            var bodies: [UInt32: String] = [:]
            var requests: [Request] = []
            while let frame = try HTTP2Peer.nextFrame(from: stream) {
                switch frame.kind {
                case .settings where frame.flags & HTTP2Frame.acknowledgement == 0:
                    try HTTP2Peer.send(
                        [HTTP2Frame(kind: .settings, flags: HTTP2Frame.acknowledgement)],
                        to: stream)
                case .headers:
                    if let early { try HTTP2Peer.send(early(frame.stream), to: stream) }
                case .data where early == nil:
                    bodies[frame.stream, default: ""] += String(
                        decoding: frame.payload, as: UTF8.self)
                    guard frame.flags & HTTP2Frame.endStream != 0 else { break }
                    requests.append((frame.stream, bodies[frame.stream] ?? ""))
                    try HTTP2Peer.send(whole(connection, requests), to: stream)
                default: break
                }
            }
        }
    }
#endif
