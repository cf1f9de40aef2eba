// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSockets
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoadingTransport
    @testable import DataLoading
    @testable import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // Servers on Unix-domain sockets.
        @Suite struct UnixSocketTests {
            private let directory = TemporaryDirectory()
            private let asked = EventRecorder<String>()

            private var transport: CurlTransport {
                let asked = asked
                return CurlTransport(lookup: { name in
                    asked.record(name)
                    return .unknown
                })
            }

            private func server(
                _ name: String = "a", backlog: Int = 100,
                answer: @escaping LoopbackHandler.Answer = { _ in .ok("here") }
            ) throws -> LoopbackServer {
                try LoopbackServer(configuration(name, backlog: backlog), answer: answer)
            }

            private func configuration(
                _ name: String, backlog: Int = 100
            ) -> LoopbackServer.Configuration {
                var configuration = LoopbackServer.Configuration()
                configuration.unixSocket = directory.url(name).path
                configuration.backlog = backlog
                return configuration
            }

            private func service(_ addresses: [String]) -> DataLoaderService {
                var configuration = DataLoaderService.Configuration()
                configuration.transport = transport
                configuration.resolver.setAddresses(
                    addresses, forHost: "sibling", fallsBackToDNS: false)
                return DataLoaderService(configuration: configuration)
            }

            private func request(
                _ path: String = "/", _ method: HTTPMethod = .get, body: Data? = nil
            ) -> DataLoaderRequest {
                var request = DataLoaderRequest(url: testURL("http://sibling" + path))
                request.method = method
                request.body = body.map { .data($0) }
                return request
            }

            private func attempt(to address: String) -> TransportRequest {
                var attempt = TransportRequest(url: testURL("http://sibling/"))
                attempt.address = address
                return attempt
            }

            @Test func `a load over a socket has the host of its URL, and asks no DNS`()
                async throws
            {
                let server = try server()
                let service = service([server.address])
                let loader = service.makeFactory().makeDataLoader()
                let sent = patternBytes(300_000)
                for body in [nil, Data("small".utf8), sent] {
                    let response = try await loader.response(
                        for: request("/a?b=c", body == nil ? .get : .post, body: body))
                    #expect(response.body == Data("here".utf8))
                    #expect(response.resolvedURL == testURL("http://sibling/a?b=c"))
                    #expect(response.metrics.addresses == [server.address])
                    #expect(response.metrics.remoteAddress == server.address)
                    #expect(!response.metrics.reusedConnection)
                }
                #expect(server.requests.map(\.target) == ["/a?b=c", "/a?b=c", "/a?b=c"])
                #expect(server.requests.allSatisfy { $0.headers["Host"] == "sibling" })
                #expect(server.requests.last?.body == sent)
                #expect(asked.elements.isEmpty)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a certificate on a socket must be that of the host`() async throws {
                let scene = try TrustScene()
                let peer = try LoopbackServer(
                    configuration("tls"),
                    script: .serve(LoopbackHandler { _ in .ok("fine") }),
                    cipher: LoopbackTLS.cipher(try scene.identity()))
                let transport = transport
                for (host, text) in [("a.origin.test", "fine"), ("other.test", "")] {
                    var attempt = TransportRequest(url: testURL("https://\(host)/"))
                    attempt.address = peer.address
                    attempt.http2 = .always
                    attempt.serverTrustPolicy = try scene.policy()
                    let record = await transport.run(attempt)
                    #expect(record.text == text)
                    if host == "other.test" {
                        #expect(record.error?.name == "certificate")
                        #expect(record.failure?.sent == .nothingWritten)
                    }
                }
                await transport.shutDown()
            }

            @Test func `a socket that is missing or has no server refuses the connection`()
                async throws
            {
                let server = try server()
                server.goDown()
                let transport = transport
                let missing = "unix:" + directory.url("missing").path
                for address in [missing, server.address, "unix:" + directory.url.path] {
                    let record = await transport.run(attempt(to: address))
                    #expect(record.error == .connectRefused, "\(address)")
                    #expect(record.failure?.sent == .nothingWritten)
                }
                await transport.shutDown()
            }

            // connect fails with EAGAIN then, and libcurl would send all the same.
            @Test func `a socket whose server accepts nothing refuses the connection in time`()
                async throws
            {
                let path = directory.url("full").path
                let (listener, _) = try ListeningSocket.make(configuration("full"), port: 0)
                try ListeningSocket.start(listener, backlog: 1)
                defer { close(listener) }
                let transport = transport
                let waiting = (0..<2).map { _ in AttemptRecorder() }
                let tasks = waiting.map { transport.start(attempt(to: "unix:" + path), sink: $0) }
                var post = attempt(to: "unix:" + path)
                post.method = .post
                // Two connections fill the queue; the kernel takes one more than its length.
                await transport.settle()
                let record = await transport.run(post)
                #expect(record.error == .connectRefused)
                #expect(record.failure?.sent == .nothingWritten)
                for task in tasks { task.cancel() }
                for sink in waiting { _ = await sink.ended() }
                await transport.shutDown()
            }

            @Test func `the next address follows a socket that fails`() async throws {
                let server = try LoopbackServer { _ in .ok("port") }
                let missing = "unix:" + directory.url("missing").path
                let service = service([missing, server.address])
                let loader = service.makeFactory().makeDataLoader()
                let first = try await loader.response(for: request("/", .post, body: Data()))
                #expect(first.body == Data("port".utf8))
                #expect(first.metrics.addresses == [missing, server.address])
                // The socket is ejected now.
                let second = try await loader.response(for: request())
                #expect(second.metrics.addresses == [server.address])
                #expect(asked.elements.isEmpty)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a host that only has a failing socket ends without DNS`() async throws {
                let service = service(["unix:" + directory.url("missing").path])
                let loader = service.makeFactory().makeDataLoader()
                await #expect(throws: DataLoaderError.connectRefused) {
                    try await loader.response(for: request())
                }
                #expect(asked.elements.isEmpty)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `loads at once over two sockets and a port reach their own servers`()
                async throws
            {
                let servers = try [
                    server("a") { .ok(.text("a" + $0.path)) },
                    server("b") { .ok(.text("b" + $0.path)) },
                    LoopbackServer { .ok(.text("c" + $0.path)) },
                ]
                let transport = transport
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<150 {
                        group.addTask {
                            var attempt = TransportRequest(
                                url: testURL("http://sibling/\(number)"))
                            attempt.address = servers[number % 3].address
                            let record = await transport.run(attempt)
                            #expect(record.text == ["a/", "b/", "c/"][number % 3] + "\(number)")
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(servers.map(\.requestCount) == [50, 50, 50])
                await transport.shutDown()
            }

            @Test func `a POST reaches a server that has restarted on its socket`() async throws {
                let server = try server()
                let service = service([server.address])
                let loader = service.makeFactory().makeDataLoader()
                for number in 0..<5 {
                    let response = try await loader.response(
                        for: request("/\(number)", .post, body: Data("x".utf8)))
                    #expect(response.statusCode == .ok)
                    server.goDown()
                    try server.comeUp()
                }
                #expect(server.requestCount == 5)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a socket is this machine, and no public address`() async throws {
                let server = try server()
                let transport = transport
                var attempt = attempt(to: server.address)
                attempt.needsLoopbackPeer = true
                #expect(await transport.run(attempt).text == "here")
                attempt.refusesPrivateAddresses = true
                let record = await transport.run(attempt)
                #expect(record.error == .privateAddress)
                #expect(record.failure?.sent == .nothingWritten)
                #expect(server.requestCount == 1)
                await transport.shutDown()
            }

            @Test func `no redirect names a socket`() async throws {
                let sibling = try server()
                let path = directory.url("a").path
                let encoded = path.replacingOccurrences(of: "/", with: "%2F")
                let locations = [
                    "unix:" + path, "http+unix://\(encoded)/", "unix://\(path)",
                    "http://unix:\(path)", "http://\(encoded)/", "//unix:\(path)",
                ]
                let transport = transport
                for location in locations {
                    let server = try LoopbackServer { _ in
                        .status(302, headers: ["Location": location])
                    }
                    var configuration = DataLoaderService.Configuration()
                    configuration.transport = transport
                    let service = DataLoaderService(configuration: configuration)
                    let loader = service.makeFactory().makeDataLoader()
                    let response = try? await loader.response(
                        for: DataLoaderRequest(url: server.url()))
                    #expect(response?.statusCode != .ok, "\(location)")
                }
                #expect(sibling.connectionCount == 0)
                await transport.shutDown()
            }

            @Test func `a cancelled load closes its socket`() async throws {
                let server = try server { _ in .steps(.stall) }
                let transport = transport
                let sink = AttemptRecorder()
                let task = transport.start(attempt(to: server.address), sink: sink)
                await server.waitForRequests(1)
                task.cancel()
                #expect(await sink.ended().error == .cancelled)
                await server.waitForClosedConnections(1)
                await transport.shutDown()
            }

            // The server reads nothing of the body, so that a write fails before the response is
            // read.
            @Test func `an early response over a socket is delivered`() async throws {
                let server = try LoopbackServer(
                    configuration("early"),
                    handler: LoopbackHandler(
                        early: { _ in
                            .steps(
                                .head(413, headers: ["Content-Length": "3"]), .content("big"),
                                .close)
                        }, otherwise: { _ in .ok() }))
                let transport = transport
                var attempt = attempt(to: server.address)
                attempt.method = .put
                attempt.expectsContinue = false
                attempt.body = .data(patternBytes(4_000_000))
                let record = await transport.run(attempt)
                #expect(record.head?.status.rawValue == 413)
                #expect(record.text == "big")
                await transport.shutDown()
            }
        }
    }
#endif
