// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // What goes over the wire to a proxy, and through it.
        @Suite struct ProxySocketTests {
            private let scene: TrustScene
            private let asked = EventRecorder<String>()

            init() throws {
                scene = try TrustScene()
            }

            /// A GET of a TLS server through a proxy.
            private func attempt(
                _ peer: LoopbackServer, through proxy: LoopbackServer,
                host: String = "a.origin.test", credential: String? = nil
            ) throws -> TransportRequest {
                var attempt = TransportRequest(url: testURL("https://\(host):\(peer.port)/x"))
                attempt.proxy = try Proxy.findable(proxy)
                attempt.proxyAuthorization = credential
                attempt.serverTrustPolicy = try scene.policy()
                // Sixty at once take long under a sanitizer.
                attempt.connectTimeout = .seconds(3_600)
                return attempt
            }

            @Test func `a proxy gets plain requests in absolute form, and resolves their hosts`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("from the proxy") }
                let transport = CurlTransport.findingProxy(asked)
                let body = patternBytes(100_000)
                for method in [HTTPMethod.get, .post] {
                    var attempt = TransportRequest(
                        method: method, url: testURL("http://origin.test:81/a/../b%2F?c=%20d"))
                    attempt.proxy = try Proxy.findable(server)
                    attempt.proxyAuthorization = "Basic proxy"
                    attempt.headers["Authorization"] = "Bearer origin"
                    if method == .post { attempt.body = .data(body) }
                    let record = await transport.run(attempt)
                    #expect(record.text == "from the proxy")
                    #expect(record.report.remoteAddress == "127.0.0.1")
                }
                for request in server.requests {
                    #expect(request.target == "http://origin.test:81/a/../b%2F?c=%20d")
                    #expect(request.headers["Host"] == "origin.test:81")
                    #expect(request.headers.values(for: "Proxy-Authorization") == ["Basic proxy"])
                    #expect(request.headers["Authorization"] == "Bearer origin")
                    #expect(!request.headers.contains("Proxy-Connection"))
                }
                #expect(server.requests.last?.body == body)
                #expect(server.connectionCount == 1)
                #expect(asked.elements == ["proxy.test"])
                await transport.shutDown()
            }

            @Test
            func `a proxy's tunnel carries TLS, and neither side gets the other's credential`()
                async throws
            {
                let peer = try scene.peer(scene.identity())
                let tunnels = TunnelProxy { _ in
                    .tunnel(["HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Encoding: gzip\r\n\r\n"]
                    )
                }
                let server = try LoopbackServer(script: tunnels.script)
                let transport = CurlTransport.findingProxy(asked)
                var attempt = try attempt(peer, through: server, credential: "Basic proxy")
                attempt.headers = [
                    "Authorization": "Bearer origin", "Cookie": "c=d", "User-Agent": "e",
                ]
                let record = await transport.run(attempt)
                #expect(record.text == "fine")
                #expect(record.head?.headers.contains("Set-Cookie") == false)
                #expect(record.head?.headers.contains("Content-Encoding") == false)
                let authority = "a.origin.test:\(peer.port)"
                #expect(
                    tunnels.seen.map(\.line) == ["CONNECT \(authority) HTTP/1.1"])
                #expect(
                    tunnels.seen.map { $0.fields.sorted() }
                        == [["Host: \(authority)", "Proxy-Authorization: Basic proxy"]])
                let request = try #require(peer.requests.first)
                #expect(request.target == "/x")
                #expect(request.headers["Authorization"] == "Bearer origin")
                #expect(!request.headers.contains("Proxy-Authorization"))
                #expect(asked.elements == ["proxy.test"])
                await transport.shutDown()
            }

            @Test func `HTTP/2 works in a tunnel, on one connection for many`() async throws {
                let peer = HTTP2Peer { _, stream in HTTP2Peer.response(stream, "two") }
                let origin = try scene.peer(peer.script, isHTTP2: { _ in true })
                let tunnels = TunnelProxy()
                let server = try LoopbackServer(script: tunnels.script)
                let transport = CurlTransport.findingProxy(asked)
                var attempt = try attempt(origin, through: server)
                attempt.http2 = .always
                let first = await transport.run(attempt)
                #expect(first.text == "two")
                #expect(first.report.httpVersion == "2")
                let sinks = (0..<10).map { _ in AttemptRecorder() }
                for sink in sinks { _ = transport.start(attempt, sink: sink) }
                for sink in sinks { #expect(await sink.ended().text == "two") }
                #expect(tunnels.seen.count == 1)
                await transport.shutDown()
            }

            @Test func `certificates and pins hold inside a tunnel`() async throws {
                let peer = try scene.peer(scene.identity())
                let server = try LoopbackServer(script: TunnelProxy().script)
                let transport = CurlTransport.findingProxy(asked)
                let wrong = await transport.run(
                    try attempt(peer, through: server, host: "other.test"))
                #expect(wrong.error?.name == "certificate")
                var pinned = try attempt(peer, through: server)
                for (pin, error) in [(scene.server.pin, nil), (scene.other, DataLoaderError.pin)] {
                    pinned.serverTrustPolicy?.pinnedPublicKeys = ["a.origin.test": [pin]]
                    let record = await transport.run(pinned)
                    #expect(record.error == error)
                    #expect(record.text == (error == nil ? "fine" : ""))
                }
                #expect(wrong.failure?.sent == .nothingWritten)
                await transport.shutDown()
            }

            @Test
            func `tunnels of other credentials and direct connections are kept apart`()
                async throws
            {
                let peer = try scene.peer(scene.identity())
                let tunnels = TunnelProxy()
                let server = try LoopbackServer(script: tunnels.script)
                let other = TunnelProxy()
                let otherServer = try LoopbackServer(script: other.script)
                let transport = CurlTransport.findingProxy(asked)
                let run = { (proxy: LoopbackServer?, credential: String?) in
                    var attempt = try attempt(
                        peer, through: proxy ?? server, credential: credential)
                    // A first connection that may speak HTTP/2 is not kept for HTTP/1.1.
                    attempt.http2 = .never
                    if proxy == nil {
                        attempt.proxy = nil
                        attempt.address = "127.0.0.1:\(peer.port)"
                    }
                    let record = await transport.run(attempt)
                    #expect(record.text == "fine")
                    return record.report.reusedConnection
                }
                #expect(try await run(server, "Basic a") == false)
                #expect(try await run(server, "Basic a") == true)
                #expect(try await run(otherServer, "Basic a") == false)
                #expect(try await run(nil, nil) == false)
                #expect(try await run(server, "Basic a") == true)
                #expect(try await run(server, "Basic b") == false)
                #expect(try await run(server, "Basic b") == true)
                #expect(try await run(server, "Basic a") == false)
                #expect(try await run(server, nil) == false)
                let values = tunnels.seen.map { $0.value(of: "Proxy-Authorization") }
                #expect(values == ["Basic a", "Basic b", "Basic a", nil])
                #expect(other.seen.count == 1)
                await transport.shutDown()
            }

            @Test func `many loads at once in tunnels of two credentials never share one`()
                async throws
            {
                let peer = try scene.peer(scene.identity())
                let tunnels = TunnelProxy()
                let server = try LoopbackServer(script: tunnels.script)
                let transport = CurlTransport.findingProxy(asked)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<60 {
                        group.addTask {
                            let credential = "Basic \(number % 2)"
                            let record = await transport.run(
                                try attempt(peer, through: server, credential: credential))
                            #expect(record.text == "fine")
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(peer.requestCount == 60)
                #expect(peer.requests.allSatisfy { !$0.headers.contains("Proxy-Authorization") })
                let values = Set(tunnels.seen.map { $0.value(of: "Proxy-Authorization") })
                #expect(values == ["Basic 0", "Basic 1"])
                await transport.shutDown()
            }
        }
    }
#endif
