// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// The effect of one connection of HTTP/2 on the streams on it.
        @Suite struct CurlStreamTests {
            private let scene: TrustScene
            private let identity: TestIdentity

            init() throws {
                scene = try TrustScene()
                identity = try scene.identity(isHTTP2: true)
            }

            private func attempt(
                _ method: HTTPMethod, _ server: LoopbackServer
            ) throws -> TransportRequest {
                var attempt = TransportRequest(
                    method: method, url: testURL("https://a.origin.test:\(server.port)/"))
                attempt.address = "127.0.0.1:\(server.port)"
                attempt.serverTrustPolicy = try scene.policy()
                attempt.http2 = .always
                return attempt
            }

            // libcurl takes the death of a connection that others use for that of a stale one, also
            // where the attempt has opened it, and then resends as after a refused stream. It does
            // so with the stream that it looks at first, which depends on the order of the handles.
            @Test(arguments: [2, 3])
            func `streams whose connection dies are not sent again, whichever load opened it`(
                count: Int
            ) async throws {
                let other = try LoopbackServer { _ in .ok() }
                for round in 0..<24 {
                    let peer = HTTP2Peer { request, stream in
                        if request < count - 1 { return [] }
                        return request == count - 1
                            ? [.reset] : HTTP2Peer.response(stream, "twice")
                    }
                    let server = try scene.peer(identity, .init(), peer.script)
                    var post = try attempt(.post, server)
                    post.body = .data(Data("pay".utf8))
                    let transport = CurlTransport()
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 0..<(round % 8) {
                            group.addTask { _ = await transport.get(other.url()) }
                        }
                    }
                    let records = await withTaskGroup(of: AttemptRecorder.Record.self) { group in
                        for _ in 0..<count { group.addTask { [post] in await transport.run(post) } }
                        return await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(peer.requests == count)
                    #expect(records.allSatisfy { $0.failure?.sent == .written })
                }
            }

            // RST_STREAM, HTTP_1_1_REQUIRED
            @Test(arguments: [nil, 10])
            func `streams that the server takes back inside their bodies are incomplete`(
                length: Int?
            ) async throws {
                let isRead = DispatchSemaphore(value: 0)
                let peer = HTTP2Peer { _, stream in
                    [
                        .send([
                            .head(stream, length: length), .data(stream, "12345", isLast: false),
                        ]),
                        .wait(isRead), .send([.reset(stream, 13)]),
                    ]
                }
                let server = try scene.peer(identity, .init(), peer.script)
                let sink = AttemptRecorder(onBytes: { _ in isRead.signal() })
                let transport = CurlTransport()
                _ = transport.start(try attempt(.get, server), sink: sink)
                let record = await sink.ended()
                #expect(record.error?.name == "http2")
                #expect(record.failure?.sent == .headReceived)
                #expect(record.text == "12345")
                #expect(peer.requests == 1)
            }

            // The window is closed, so that libcurl reads bytes of the body that it does not write.
            @Test(arguments: [true, false])
            func `streams that the server refused are sent again with their whole bodies`(
                isInMemory: Bool
            ) async throws {
                let body = patternBytes(100_000)
                let bodies = EventRecorder<Int>()
                let server = try scene.peer(
                    identity, .init(),
                    .perConnection { number in
                        .converse {
                            try RefusingPeer($0, refuses: number == 0).serve { bodies.record($0) }
                        }
                    })
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                let url = testURL("https://a.origin.test:\(server.port)/")
                // Now the client knows the window.
                _ = try await loader.response(for: DataLoaderRequest(url: url))
                var request = DataLoaderRequest(url: url)
                request.method = .put
                request.body =
                    isInMemory
                    ? .data(body)
                    : .stream(length: Int64(body.count)) { InputStream(data: body) }
                let metrics = try await loader.response(for: request).metrics
                #expect(metrics.attempts == 2)
                #expect(metrics.replacedConnections == 1)
                #expect(bodies.elements == [body.count])
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }

    /// A connection that takes bodies, or one with a closed window that refuses them.
    private struct RefusingPeer {
        let stream: any ByteStream
        let refuses: Bool

        init(_ stream: any ByteStream, refuses: Bool) {
            self.stream = stream
            self.refuses = refuses
        }

        func serve(_ takeBody: (Int) -> Void) throws {
            guard try HTTP2Peer.read(24, from: stream).count == 24 else { return }
            // SETTINGS_INITIAL_WINDOW_SIZE
            let window = HTTP2Frame.bytes(refuses ? 0 : 1_000_000)
            try send(
                HTTP2Frame(kind: .settings, payload: [0, 4] + window),
                HTTP2Frame(kind: .window, payload: HTTP2Frame.bytes(1_000_000)))
            var length = 0
            var pings = 0
            while let frame = try HTTP2Peer.nextFrame(from: stream) {
                let ends = frame.flags & HTTP2Frame.endStream != 0
                switch frame.kind {
                case .settings where frame.flags & HTTP2Frame.acknowledgement == 0:
                    try send(HTTP2Frame(kind: .settings, flags: HTTP2Frame.acknowledgement))
                case .headers where ends: try answer(frame)
                case .headers where refuses: try send(.ping)
                case .ping where refuses:
                    // Round trips, in which the client has read bytes that it cannot write.
                    pings += 1
                    try send(pings < 20 ? .ping : .reset(3, 7))
                case .data:
                    length += frame.payload.count
                    guard ends else { break }
                    takeBody(length)
                    try answer(frame)
                default: break
                }
            }
        }

        private func answer(_ frame: HTTP2Frame) throws {
            try send(.head(frame.stream), .data(frame.stream, "", isLast: true))
        }

        private func send(_ frames: HTTP2Frame...) throws {
            try HTTP2Peer.send(frames, to: stream)
        }
    }
#endif
