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
        /// The checks around libcurl, each against a server that violates them.
        @Suite struct CurlGuardTests {
            private let transport = CurlTransport()

            private func load(_ head: String, body: String = "hello") async throws
                -> AttemptRecorder.Record
            {
                let server = try LoopbackServer { _ in .raw(.text(head + "\r\n\r\n" + body)) }
                return await transport.get(server.url())
            }

            @Test func `a head without its final empty line is not a success`() async throws {
                let server = try LoopbackServer { _ in
                    .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
                }
                #expect(await transport.get(server.url()).error == .truncatedHead)
            }

            @Test(arguments: [
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6",
                "HTTP/1.1 200 OK\r\nContent-Length: 5, 5",
                "HTTP/1.1 200 OK\r\nContent-Length: -5",
                "HTTP/1.1 200 OK\r\nContent-Length: +5",
                "HTTP/1.1 200 OK\r\nContent-Length: 5x",
                "HTTP/1.1 200 OK\r\nContent-Length:",
                "HTTP/1.1 200 OK\r\nContent-Length: 100000000000000000000000",
                "HTTP/1.1 200 OK\r\nContent-Length : 5",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 0",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked",
                "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked",
                "HTTP/1.2 200 OK\r\nContent-Length: 5",
                "HTTP/1.1  200 OK\r\nContent-Length: 5",
                "HTTP/1.1 2000 OK\r\nContent-Length: 5",
                "HTTP/1.1 099 OK\r\nContent-Length: 5",
                "http/1.1 200 OK\r\nContent-Length: 5",
                "HTTP/2 200 OK\r\nContent-Length: 5",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade",
            ])
            func `a response with ambiguous framing is refused`(head: String)
                async throws
            {
                let record = try await load(head)
                #expect(record.error?.isFraming == true, "\(record)")
                #expect(record.body.isEmpty)
                #expect(record.failure?.sent == .written)
            }

            @Test func `two equal values of Content-Length are accepted`() async throws {
                let record = try await load(
                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5")
                #expect(record.text == "hello")
            }

            @Test(arguments: ["a b", "", "GET\r\nX: y", "G\u{e9}T", "CONNECT"])
            func `a method that is not a token is not sent`(method: String) async throws {
                let server = try LoopbackServer { _ in .ok() }
                let method = HTTPMethod(rawValue: method)
                let record = await transport.run(
                    TransportRequest(method: method, url: server.url()))
                #expect(record.error == .invalidRequest(.method))
                #expect(record.failure?.sent == .nothingWritten)
                #expect(server.connectionCount == 0)
            }

            @Test(arguments: ["a\r\nB: c", "a\nB", "a\0", "a\u{7f}"])
            func `a field value with a line end is not sent`(value: String) async throws {
                let server = try LoopbackServer { _ in .ok() }
                var attempt = TransportRequest(url: server.url())
                attempt.headers = ["X": value]
                let record = await transport.run(attempt)
                #expect(record.error == .invalidRequest(.headerValue(name: "X")))
                #expect(server.connectionCount == 0)
            }

            @Test(arguments: [
                "Content-Length", "transfer-encoding", "Host", "Connection", "Expect",
            ])
            func `a field that belongs to the transport is not sent`(name: String) async throws {
                let server = try LoopbackServer { _ in .ok() }
                var attempt = TransportRequest(url: server.url())
                attempt.headers = [name: "5"]
                let record = await transport.run(attempt)
                #expect(record.error == .invalidRequest(.reservedHeader(name)))
                #expect(server.connectionCount == 0)
            }

            @Test func `fields are checked again when a handle is reused`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                var attempt = TransportRequest(url: server.url())
                attempt.headers = ["X": "good"]
                #expect(await transport.run(attempt).error == nil)
                attempt.headers = ["X": "bad\r\n"]
                #expect(
                    await transport.run(attempt).error == .invalidRequest(.headerValue(name: "X")))
            }

            @Test func `a body is stopped at its limit, declared or counted`() async throws {
                let server = try LoopbackServer(
                    handler: .routes([
                        "/declared": .always(.ok(.zeros(1_001))),
                        "/counted": .always(.chunked([.zeros(600), .zeros(401)])),
                        "/exact": .always(.chunked([.zeros(600), .zeros(400)])),
                    ]))
                for path in ["/declared", "/counted", "/exact"] {
                    var attempt = TransportRequest(url: server.url(path))
                    attempt.bodyLimit = 1_000
                    let record = await transport.run(attempt)
                    #expect(record.error == (path == "/exact" ? nil : .bodyTooLarge(limit: 1_000)))
                    #expect(record.body.count <= 1_000)
                    #expect(record.head?.status == .ok)
                }
            }

            @Test(arguments: [HTTP2Use.never, .always])
            func `a status line of HTTP/2 is refused over HTTP/1.1`(
                use: HTTP2Use
            ) async throws {
                let scene = try RouteScene()
                let server = try scene.server(
                    .serve(
                        LoopbackHandler { _ in
                            .steps(.bytes("HTTP/2 200\r\nContent-Length: 4\r\n\r\nfine"))
                        }), isHTTP2: { _ in false })
                let record = await CurlTransport().run(try scene.attempt(server, "", use))
                guard case .framing = record.error?.kind else {
                    Issue.record("\(String(describing: record.error)), \(record.text)")
                    return
                }
            }

            @Test(arguments: [LoopbackStep.reset, .close])
            func `a POST is sent once although its connection went stale`(ending: LoopbackStep)
                async throws
            {
                let server = try LoopbackServer(script: .answers([.ok("a"), .steps(ending)]))
                #expect(await transport.get(server.url("/1")).text == "a")
                var post = TransportRequest(method: .post, url: server.url("/2"))
                post.body = .data(Data("once".utf8))
                let record = await transport.run(post)
                #expect(record.error == .connectionReset)
                #expect(record.failure?.sent == .written)
                #expect(server.requests.map(\.path) == ["/1", "/2"])
            }

            @Test(arguments: [LoopbackStep.reset, .close])
            func `a GET is sent once on a stale connection, and no other is opened`(
                ending: LoopbackStep
            )
                async throws
            {
                let server = try LoopbackServer(script: .answers([.ok("a"), .steps(ending)]))
                #expect(await transport.get(server.url("/1")).text == "a")
                let record = await transport.get(server.url("/2"))
                #expect(record.error == .connectionReset)
                #expect(record.failure?.sent == .written)
                #expect(record.report.reusedConnection)
                #expect(server.requests.map(\.path) == ["/1", "/2"])
                #expect(server.connectionCount == 1)
            }

            @Test func `the error names the stale connections, not the new one behind them`()
                async throws
            {
                let areThere = LoopbackGate()
                let server = try LoopbackServer { request in
                    request.isOnReusedConnection
                        ? .steps(.reset) : .ok("a").preceded(by: .wait(for: areThere))
                }
                async let one = transport.get(server.url())
                async let other = transport.get(server.url())
                await server.waitForHeads(2)
                areThere.open()
                _ = await (one, other)
                // libcurl would use another connection, on which the request must not be sent.
                let record = await transport.run(TransportRequest(url: server.url()))
                #expect(record.error == .connectionReset)
                #expect(record.report.reusedConnection)
                #expect(record.report.connectTime == nil)
                #expect(server.requests.count == 3)
            }

            @Test func `a fresh connection is used after a timeout, where that is requested`()
                async throws
            {
                let server = try LoopbackServer(
                    script: .perConnection { number in
                        number == 0 ? .answers([.ok("a"), .steps(.stall)]) : .answers([.ok("b")])
                    })
                #expect(await transport.get(server.url()).text == "a")
                var attempt = TransportRequest(url: server.url())
                attempt.idleTimeout = .milliseconds(50)
                let late = await transport.run(attempt)
                #expect(late.error == .idleTimeout)
                #expect(late.report.reusedConnection)
                attempt.needsFreshConnection = true
                attempt.idleTimeout = .seconds(60)
                let fresh = await transport.run(attempt)
                #expect(fresh.text == "b")
                #expect(fresh.report.reusedConnection == false)
            }
        }
    }
#endif
