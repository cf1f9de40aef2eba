// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Uploads over HTTP/2 whose server responds before it has them.
        @Suite struct HTTP2UploadTests {
            private let scene: RouteScene

            init() throws {
                scene = try RouteScene()
            }

            // libcurl 7.88.1 continues with the body until the window is closed, and then waits.
            @Test(arguments: [true, false])
            func `a complete response ends an upload whose window is still open`(
                isFile: Bool
            ) async throws {
                // The response and more of a window come together.
                let server = try scene.server(
                    .converse {
                        try UploadPeer.serve($0) { stream, count in
                            guard count == UploadPeer.firstWindow else { return [] }
                            return [
                                .head(stream, length: 4), .data(stream, "fine", isLast: true),
                                .window(0, 40_000), .window(stream, 40_000),
                            ]
                        }
                    }, isHTTP2: { _ in true })
                let directory = TemporaryDirectory()
                let file = directory.url("body")
                try Data(count: 1 << 20).write(to: file)
                var post = try scene.attempt(server)
                post.method = .post
                post.body =
                    isFile
                    ? .file(file)
                    : .stream(length: 1 << 20) { InputStream(data: Data(count: 1 << 20)) }
                post.idleTimeout = .seconds(60)
                let record = await CurlTransport().run(post)
                #expect(record.error == nil)
                #expect(record.text == "fine")
            }

            // haproxy 2.6.12 returns no credit for what comes after an early response, and then
            // takes no body.
            @Test(.timeLimit(.minutes(15)))
            func `a connection that takes no more bodies gets no later load`() async throws {
                let peer = UploadPeer.script(takesBodies: { $0 > 0 })
                let server = try scene.server(peer, isHTTP2: { _ in true })
                // One connection at a time, however long its handshake takes.
                let transport = CurlTransport(idle: IdleConnections(leaderTime: .seconds(3_600)))
                let get = try scene.attempt(server)
                var post = get
                post.method = .post
                post.body = .data(Data(count: 1 << 20))
                post.idleTimeout = .milliseconds(250) * patience
                let isOver = Locked(false)
                // The connection is never silent.
                async let others: Void = {
                    while !isOver.withLock({ $0 }) { _ = await transport.run(get) }
                }()
                #expect(await transport.run(post).error == .idleTimeout)
                post.body = .data(Data("small".utf8))
                post.idleTimeout = .seconds(60)
                let record = await transport.run(post)
                #expect(record.error == nil)
                #expect(record.text == "fine")
                isOver.withLock { $0 = true }
                await others
                #expect(server.connectionCount == 2)
                await transport.shutDown()
            }
        }
    }

    /// A server of HTTP/2 that counts the bytes of each body.
    private enum UploadPeer {
        /// How much of a body may be sent before its server opens a window (RFC 9113 section
        /// 6.9.2).
        static let firstWindow = 65_535

        /// Responds to each request that has ended, on connections that open a window.
        ///
        /// On connections with certain numbers no window opens, and no request with a body gets a
        /// response.
        static func script(takesBodies: @escaping @Sendable (Int) -> Bool) -> LoopbackScript {
            .perConnection { number in
                .converse { stream in
                    try HTTP2Peer.converse(on: stream) { frame in
                        let isEnd = frame.flags & HTTP2Frame.endStream != 0
                        let isAccepted =
                            frame.kind == .headers || frame.kind == .data && takesBodies(number)
                        if isEnd, isAccepted {
                            try HTTP2Peer.send(BodyPeer.answer(frame.stream), to: stream)
                        }
                        return true
                    }
                }
            }
        }

        /// Handles each frame of a body with its stream and the bytes so far.
        static func serve(
            _ stream: any ByteStream,
            _ answer: (_ stream: UInt32, _ count: Int) -> [HTTP2Frame]
        ) throws {
            var counts: [UInt32: Int] = [:]
            try HTTP2Peer.converse(on: stream) { frame in
                guard frame.kind == .data else { return true }
                counts[frame.stream, default: 0] += frame.payload.count
                try HTTP2Peer.send(answer(frame.stream, counts[frame.stream] ?? 0), to: stream)
                return true
            }
        }
    }
#endif
