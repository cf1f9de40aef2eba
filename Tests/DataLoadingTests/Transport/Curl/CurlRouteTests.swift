// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// One attempt finds out which protocol a server speaks, and only attempts to that server
        /// wait for it.
        @Suite struct CurlRouteTests {
            private let scene: TrustScene
            private let http2 = HTTP2Peer { _, stream in HTTP2Peer.response(stream, "fine") }
            /// A first attempt's handshake delays the others for as long as it takes.
            private let patient = IdleConnections(leaderTime: .seconds(3_600))

            init() throws {
                scene = try TrustScene()
            }

            @Test(arguments: [true, false])
            func `a burst to a server of HTTP/2 shares one connection`(
                readsALPN: Bool
            ) async throws {
                let server = try server { _ in true }
                let transport = CurlTransport(
                    idle: IdleConnections(readsALPN: readsALPN, leaderTime: .seconds(3_600)))
                for record in try await burst(20, transport, server) {
                    #expect(record.text == "fine")
                    #expect(record.report.httpVersion == "2")
                }
                #expect(server.connectionCount == 1)
            }

            @Test(arguments: [true, false])
            func `bursts to a server of HTTP/1.1 get their own responses over HTTP/1.1`(
                readsALPN: Bool
            ) async throws {
                let server = try server { _ in false }
                let transport = CurlTransport(idle: IdleConnections(readsALPN: readsALPN))
                for _ in 0..<3 {
                    let records = try await burst(20, transport, server)
                    #expect(Set(records.map(\.text)) == Set((0..<20).map { "/\($0)" }))
                    #expect(records.allSatisfy { $0.report.httpVersion == "1.1" })
                }
                // The connection of the attempt that offered HTTP/2 is closed with it.
                #expect(server.connections.first?.requestCount == 1)
                await eventually { server.connections.first?.isOpen == false }
                #expect(server.connections.dropFirst().contains { $0.requestCount > 1 })
            }

            @Test func `a server may change from HTTP/2 to HTTP/1.1`() async throws {
                let closing = HTTP2Peer { _, stream in
                    HTTP2Peer.response(stream, "fine") + [.close]
                }
                let server = try server(
                    .perConnection { $0 == 0 ? closing.script : Self.echo }, { $0 == 0 })
                let transport = CurlTransport()
                #expect(await transport.run(try get(server)).text == "fine")
                await server.waitForClosedConnections(1)
                // The client may not have seen the end when it sends the next one, and no attempt is
                // sent twice.
                let next = await transport.run(try get(server))
                #expect(next.error == nil || next.report.reusedConnection)
                let records = try await burst(8, transport, server)
                #expect(Set(records.map(\.text)) == Set((0..<8).map { "/\($0)" }))
            }

            @Test func `attempts that wait for a cancelled handshake are run`()
                async throws
            {
                let server = try server(firstConnection: .silent)
                let transport = CurlTransport(idle: patient)
                let first = AttemptRecorder()
                let task = transport.start(try get(server), sink: first)
                await server.waitForConnections(1)
                async let records = burst(8, transport, server)
                #expect(await transport.get(try plain.get().url()).text == "plain")
                #expect(server.connectionCount == 1)
                task.cancel()
                #expect(try await records.allSatisfy { $0.text == "fine" })
                #expect(await first.ended().error == .cancelled)
                #expect(server.connectionCount == 2)
            }

            @Test func `attempts that wait for a failed handshake are run`() async throws {
                let server = try server(firstConnection: .reset)
                let transport = CurlTransport(idle: patient)
                let records = try await burst(8, transport, server)
                #expect(records.count { $0.text == "fine" } == 7)
                #expect(
                    records.allSatisfy { $0.failure?.sent ?? .nothingWritten == .nothingWritten })
                #expect(server.connectionCount == 2)
            }

            @Test func `an attempt that waits for another's handshake keeps its own limit`()
                async throws
            {
                let server = try server(firstConnection: .silent)
                let transport = CurlTransport(idle: patient)
                let first = AttemptRecorder()
                let task = transport.start(try get(server), sink: first)
                await server.waitForConnections(1)
                var hasty = try get(server)
                hasty.connectTimeout = .milliseconds(50)
                let record = await transport.run(hasty)
                #expect(record.error == .connectTimeout)
                #expect(record.failure?.sent == .nothingWritten)
                let cancelled = AttemptRecorder()
                transport.start(try get(server), sink: cancelled).cancel()
                #expect(await cancelled.ended().error == .cancelled)
                #expect(server.connectionCount == 1)
                task.cancel()
                _ = await first.ended()
            }

            @Test func `a reset runs the attempts that wait for a handshake`() async throws {
                let server = try server(firstConnection: .silent)
                let transport = CurlTransport(idle: patient)
                let first = AttemptRecorder()
                let task = transport.start(try get(server), sink: first)
                await server.waitForConnections(1)
                async let records = burst(8, transport, server)
                #expect(await transport.get(try plain.get().url()).text == "plain")
                await transport.reset()
                #expect(try await records.allSatisfy { $0.text == "fine" })
                task.cancel()
                #expect(await first.ended().error == .cancelled)
            }

            @Test func `a shutDown ends attempts that wait for a handshake`() async throws {
                let server = try server(firstConnection: .silent)
                let transport = CurlTransport(idle: patient)
                async let records = burst(8, transport, server)
                await server.waitForConnections(1)
                #expect(await transport.get(try plain.get().url()).text == "plain")
                await transport.shutDown()
                for record in try await records {
                    #expect(record.error == .serviceInvalidated)
                    #expect(record.failure?.sent == .nothingWritten)
                }
            }

            @Test func `every attempt ends when a server refuses all streams`() async throws {
                let refusing = HTTP2Peer { _, stream in [.send([.reset(stream, 7)])] }
                let server = try server(.perConnection { _ in refusing.script }, { _ in true })
                let transport = CurlTransport()
                let records = try await burst(8, transport, server)
                #expect(records.allSatisfy { $0.endings == 1 && $0.error != nil })
            }

            @Test func `a body that is slow to open delays no other attempt`() async throws {
                let server = try server { _ in true }
                let transport = CurlTransport()
                let mayOpen = DispatchSemaphore(value: 0)
                var post = try get(server)
                post.method = .post
                post.body = .stream(length: 4) {
                    mayOpen.wait()
                    return InputStream(data: Data("body".utf8))
                }
                let slow = AttemptRecorder()
                _ = transport.start(post, sink: slow)
                let records = try await burst(8, transport, server)
                #expect(records.allSatisfy { $0.text == "fine" })
                mayOpen.signal()
                #expect(await slow.ended().text == "fine")
            }

            @Test func `an old connection takes no new attempt, however busy it is`()
                async throws
            {
                let isUsedBefore = try await unhurried { try await age(pace: $0) }
                #expect(isUsedBefore)
            }

            /// Returns false when the machine was so slow that the connection was old at once.
            private func age(pace: Int) async throws -> Bool {
                let stalling = HTTP2Peer { request, stream in
                    request == 0 ? [] : HTTP2Peer.response(stream, "fine")
                }
                let server = try server(.perConnection { _ in stalling.script }, { _ in true })
                let age = Duration.seconds(1) * patience * pace
                let transport = CurlTransport(idle: IdleConnections(maximumAge: age))
                let stalled = AttemptRecorder()
                let begun = ContinuousClock.now
                let task = transport.start(try get(server), sink: stalled)
                await eventually { stalling.requests == 1 }
                var record = await transport.run(try get(server))
                guard record.report.reusedConnection else {
                    task.cancel()
                    _ = await stalled.ended()
                    return false
                }
                while record.report.reusedConnection, .now - begun < age + .seconds(60) {
                    record = await transport.run(try get(server))
                }
                #expect(!record.report.reusedConnection)
                #expect(.now - begun >= age)
                #expect(server.connectionCount == 2)
                #expect(stalled.record.endings == 0)
                task.cancel()
                // The old connection closes with its last attempt.
                await server.waitForClosedConnections(1)
                return await transport.run(try get(server)).report.reusedConnection
            }

            // libcurl below 8.5.0 would send it there, because one connection to the server
            // multiplexes. Later versions use that one.
            @Test func `no request is sent on an HTTP/1.1 connection that is in use`() async throws
            {
                let mayAnswer = LoopbackGate()
                let slow = LoopbackScript.serve(
                    LoopbackHandler { request in
                        .ok("\(request.target)").preceded(by: .wait(for: mayAnswer))
                    })
                let http2 = http2
                let server = try server(
                    .perConnection { $0 == 0 ? slow : $0 == 1 ? http2.script : Self.echo },
                    { $0 == 1 })
                // Each attempt that finds no HTTP/2 offers it anew.
                let transport = CurlTransport(
                    idle: IdleConnections(protocolMemory: .zero, leaderTime: .seconds(3_600)))
                let first = AttemptRecorder()
                _ = transport.start(try get(server, "first"), sink: first)
                await server.waitForHeads(1)
                #expect(await transport.run(try get(server)).text == "fine")
                var post = try get(server, "third")
                post.method = .post
                post.body = .data(Data("third".utf8))
                let third = await transport.run(post)
                let isMixing = (CurlLibrary.shared?.version ?? 0) < 0x08_05_00
                #expect(third.text == (isMixing ? "/third" : "fine"))
                #expect(server.requests.count { $0.target == "/third" } == (isMixing ? 1 : 0))
                #expect(http2.requests == (isMixing ? 1 : 2))
                mayAnswer.open()
                #expect(await first.ended().text == "/first")
                #expect(server.connections.first?.requestCount == 1)
            }

            private static let echo = LoopbackScript.serve(
                LoopbackHandler { .ok("\($0.target)") })

            private let plain = Result { try LoopbackServer { _ in .ok("plain") } }

            private func get(
                _ server: LoopbackServer, _ path: String = ""
            ) throws -> TransportRequest {
                var attempt = TransportRequest(
                    url: testURL("https://a.origin.test:\(server.port)/\(path)"))
                attempt.address = "127.0.0.1:\(server.port)"
                attempt.serverTrustPolicy = try scene.policy()
                attempt.http2 = .always
                return attempt
            }

            /// Runs a number of attempts at once, and returns how they ended.
            private func burst(
                _ count: Int, _ transport: CurlTransport, _ server: LoopbackServer
            ) async throws -> [AttemptRecorder.Record] {
                let attempts = try (0..<count).map { try get(server, "\($0)") }
                return await withTaskGroup(of: AttemptRecorder.Record.self) { group in
                    for attempt in attempts { group.addTask { await transport.run(attempt) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }

            private func server(firstConnection: LoopbackScript) throws -> LoopbackServer {
                let http2 = http2
                return try server(
                    .perConnection { $0 == 0 ? firstConnection : http2.script }, { _ in true })
            }

            private func server(
                isHTTP2: @escaping @Sendable (Int) -> Bool
            ) throws -> LoopbackServer {
                let http2 = http2
                return try server(
                    .perConnection { isHTTP2($0) ? http2.script : Self.echo }, isHTTP2)
            }

            private func server(
                _ script: LoopbackScript, _ isHTTP2: @escaping @Sendable (Int) -> Bool
            ) throws -> LoopbackServer {
                try scene.peer(script, isHTTP2: isHTTP2)
            }
        }
    }
#endif
