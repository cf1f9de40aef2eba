// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// What keeps the bodies of a shared connection whole: `CurlTransfer+LostPieces`.
        @Suite struct CurlPiecesTests {
            private let scene: RouteScene
            private let keepsPieces: Bool

            init() throws {
                scene = try RouteScene()
                keepsPieces = try #require(CurlLibrary.shared).keepsPieces
            }

            /// Responds to requests in groups, so that each but the last ends beside others.
            private static func peer(groupsOf size: Int) -> HTTP2Peer {
                let waiting = Locked<[UInt32]>([])
                return HTTP2Peer { _, stream in
                    let group = waiting.withLock { waiting in
                        waiting.append(stream)
                        guard waiting.count == size else { return [UInt32]() }
                        defer { waiting = [] }
                        return waiting
                    }
                    return group.map { .send(BodyPeer.answer($0)) }
                }
            }

            @Test func `a handle whose buffer was kept carries another kind of request`()
                async throws
            {
                let server = try scene.server(
                    Self.peer(groupsOf: 8).script, isHTTP2: { _ in true })
                // One connection, however long its handshake takes.
                let transport = CurlTransport(idle: IdleConnections(leaderTime: .seconds(3_600)))
                for method in [HTTPMethod.get, .put, .delete, .get] {
                    let attempts = try (0..<8).map { number in
                        var attempt = try scene.attempt(server, "\(number)")
                        attempt.method = method
                        if method == .put { attempt.body = .data(Data("body".utf8)) }
                        return attempt
                    }
                    await withTaskGroup(of: AttemptRecorder.Record.self) { group in
                        for attempt in attempts { group.addTask { await transport.run(attempt) } }
                        for await record in group {
                            #expect(record.error == nil)
                            #expect(record.text == "fine")
                        }
                    }
                }
                #expect(server.connectionCount == 1)
                await transport.shutDown()
            }

            @Test(arguments: [nil, 4] as [Int64?])
            func `an upload without a length joins a connection that keeps pieces`(
                length: Int64?
            ) async throws {
                let joins = keepsPieces || length != nil
                let server = try scene.server(
                    .perConnection { number in
                        number > 0 && !joins ? RouteScene.echo : Self.peer(groupsOf: 1).script
                    }, isHTTP2: { number in number == 0 || joins })
                let transport = CurlTransport()
                let get = try scene.attempt(server)
                #expect(await transport.run(get).text == "fine")
                var post = get
                post.method = .post
                post.body = .stream(length: length) { InputStream(data: Data("body".utf8)) }
                let record = await transport.run(post)
                #expect(record.error == nil)
                #expect(record.text == (joins ? "fine" : "/"))
                #expect(server.connectionCount == (joins ? 1 : 2))
                await transport.shutDown()
            }
        }
    }
#endif
