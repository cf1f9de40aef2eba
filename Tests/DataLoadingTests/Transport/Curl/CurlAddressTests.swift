// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        @Suite struct CurlAddressTests {
            private let lookups = Locked(0)

            private func transport(_ answer: NameAnswer) -> CurlTransport {
                let lookups = lookups
                // However long a look-up takes.
                var lifetimes = NameLifetimes()
                lifetimes.staleAnswerDelay = 3_600_000_000_000
                return CurlTransport(
                    names: lifetimes,
                    lookup: { _ in
                        lookups.withLock { $0 += 1 }
                        return answer
                    })
            }

            private func url(_ host: String, _ server: LoopbackServer, path: String = "/") throws
                -> URL
            {
                try #require(URL(string: "http://\(host):\(server.port)\(path)"))
            }

            @Test func `a request to another address keeps the host of its URL`() async throws {
                let server = try LoopbackServer { _ in .ok("here") }
                let transport = transport(.unknown)
                var attempt = try TransportRequest(url: .host("origin.test"))
                attempt.address = "127.0.0.1:\(server.port)"
                let record = await transport.run(attempt)
                #expect(record.text == "here")
                #expect(await server.waitForRequests(1)[0].headers["Host"] == "origin.test")
                #expect(lookups.withLock { $0 } == 0)
            }

            @Test func `connections to two addresses of one host are kept apart`() async throws {
                let first = try LoopbackServer { _ in .ok("first") }
                let second = try LoopbackServer { _ in .ok("second") }
                let transport = transport(.unknown)
                var attempt = try TransportRequest(url: .host("origin.test"))
                for (server, text) in [(first, "first"), (second, "second"), (first, "first")] {
                    attempt.address = "127.0.0.1:\(server.port)"
                    #expect(await transport.run(attempt).text == text)
                }
                #expect(first.connectionCount == 1)
                #expect(second.connectionCount == 1)
            }

            @Test func `an address may lack a port, or be a name`() async throws {
                let server = try LoopbackServer { _ in .ok("here") }
                let transport = transport(.addresses(["127.0.0.1"]))
                for address in ["127.0.0.1", "replica.test", "replica.test:\(server.port)"] {
                    var attempt = TransportRequest(url: try url("origin.test", server))
                    attempt.address = address
                    #expect(await transport.run(attempt).text == "here")
                }
                #expect(lookups.withLock { $0 } == 1)
                #expect(
                    server.requests.allSatisfy {
                        $0.headers["Host"] == "origin.test:\(server.port)"
                    })
            }

            @Test func `an address that cannot be parsed is refused`() async throws {
                var attempt = try TransportRequest(url: .host("origin.test"))
                for address in [
                    "", "a b", "[::1", "host:0", "host/path", "user@host", "unix:a", "unix:/",
                ] {
                    attempt.address = address
                    guard case .invalidRequest = await transport(.unknown).run(attempt).error?.kind
                    else {
                        Issue.record("\(address)")
                        continue
                    }
                }
            }

            @Test func `a name is looked up once for concurrent attempts, and then cached`()
                async throws
            {
                let server = try LoopbackServer { request in .ok(.text(request.path)) }
                let answer = DispatchSemaphore(value: 0)
                let lookups = lookups
                let transport = CurlTransport(lookup: { name in
                    lookups.withLock { $0 += 1 }
                    answer.wait()
                    return name == "many.test" ? .addresses(["127.0.0.1"]) : .unknown
                })
                let sinks = try (0..<50).map { number in
                    let sink = AttemptRecorder()
                    let request = TransportRequest(
                        url: try url("many.test", server, path: "/\(number)"))
                    _ = transport.start(request, sink: sink)
                    return sink
                }
                await transport.settle()
                answer.signal()
                for (number, sink) in sinks.enumerated() {
                    #expect(await sink.ended().text == "/\(number)")
                }
                #expect(await transport.get(try url("MANY.test", server)).text == "/")
                #expect(lookups.withLock { $0 } == 1)
            }

            @Test func `the answer that a name has no address is cached for a while`() async throws
            {
                let transport = transport(.unknown)
                var time = Duration.seconds(1_000)
                var count = 0
                // A machine that is slower than the cache's lifetime proves nothing, so the test
                // tries again.
                while time >= .seconds(4), !Task.isCancelled {
                    await transport.reset()
                    lookups.withLock { $0 = 0 }
                    let start = ContinuousClock.now
                    #expect(await transport.get(try .host("gone.test")).error == .dns)
                    #expect(await transport.get(try .host("gone.test")).error == .dns)
                    time = ContinuousClock.now - start
                    count = lookups.withLock { $0 }
                }
                #expect(count == 1)
            }

            @Test func `a reset drops cached names and idle connections`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                let transport = transport(.addresses(["127.0.0.1"]))
                #expect(await transport.get(try url("named.test", server)).error == nil)
                await transport.reset()
                await server.waitForClosedConnections(1)
                #expect(await transport.get(try url("named.test", server)).error == nil)
                #expect(lookups.withLock { $0 } == 2)
                #expect(server.connectionCount == 2)
            }

            @Test func `an attempt tries a name's next address when one refuses`() async throws {
                let server = try LoopbackServer { _ in .ok("here") }
                let transport = transport(.addresses(["127.0.0.9", "127.0.0.1"]))
                let record = await transport.get(try url("two.test", server))
                #expect(record.text == "here")
                #expect(record.report.remoteAddress == "127.0.0.1")
            }

            @Test func `a name whose addresses refuse is looked up again`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                server.goDown()
                let transport = transport(.addresses(["127.0.0.1"]))
                for _ in 0..<2 {
                    #expect(
                        await transport.get(try url("down.test", server)).error == .connectRefused)
                }
                #expect(lookups.withLock { $0 } == 2)
            }

            @Test func `a response loads from an IPv6 address`() async throws {
                var configuration = LoopbackServer.Configuration()
                configuration.host = "::1"
                guard let server = try? LoopbackServer(configuration, answer: { _ in .ok("six") })
                else {
                    return
                }
                let record = await transport(.unknown).get(server.url())
                #expect(record.text == "six")
                #expect(record.report.remoteAddress == "::1")
            }

            @Test func `a look-up that no attempt waits for delays no other look-up`() async {
                let lookedUp = EventRecorder<String>()
                let release = DispatchSemaphore(value: 0)
                let transport = CurlTransport { name in
                    lookedUp.record(name)
                    if name.hasPrefix("taken") { release.wait() }
                    return .unknown
                }
                let limit = NameResolver.workerLimit
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<limit {
                        let url = testURL("http://taken\(number).test/")
                        group.addTask { _ = await transport.get(url) }
                    }
                    _ = await lookedUp.first(limit)
                    // These have no thread.
                    await withTaskGroup(of: Void.self) { group in
                        for number in 0..<40 {
                            let url = testURL("http://waiting\(number).test/")
                            var attempt = TransportRequest(url: url)
                            attempt.connectTimeout = .milliseconds(50)
                            group.addTask { [attempt] in _ = await transport.run(attempt) }
                        }
                    }
                    for _ in 0..<limit { release.signal() }
                    _ = await transport.get(testURL("http://good.test/"))
                }
                #expect(lookedUp.elements.count == limit + 1)
                #expect(lookedUp.elements.last == "good.test")
            }

            // The system may give one port to connections of two peers.
            @Test func `a connection is identified by its peer and its ports`() throws {
                let first = try LoopbackServer { _ in .ok() }
                var configuration = LoopbackServer.Configuration()
                configuration.host = "127.0.0.2"
                configuration.port = first.port
                let second = try LoopbackServer(configuration) { _ in .ok() }
                let sockets = try ["127.0.0.1", "127.0.0.2"].map { _ in
                    try #require(StreamSocket())
                }
                defer { for socket in sockets { socket.close() } }
                let local = sockets[0].bind(port: 0)
                #expect(sockets[1].bind(port: local) == local)
                #expect(sockets[0].connect([127, 0, 0, 1], port: first.port))
                #expect(sockets[1].connect([127, 0, 0, 2], port: second.port))
                for (index, socket) in sockets.enumerated() {
                    for (number, address) in [[127, 0, 0, 1], [127, 0, 0, 2]].enumerated() {
                        let isSame = CurlLoop.connects(
                            socket.descriptor, from: Int(local), to: address.map { UInt8($0) },
                            Int(first.port))
                        #expect(isSame == (index == number))
                    }
                }
            }

            @Test func `localhost is found by the system's resolver`() async throws {
                let server = try LoopbackServer { _ in .ok("local") }
                #expect(await CurlTransport().get(try url("localhost", server)).text == "local")
            }
        }
    }
#endif
