// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A transport with several loops.
        @Suite struct CurlLoopsTests {
            @Test func `loads of many origins over three loops end exactly once`() async throws {
                let servers = try (0..<12).map { _ in try LoopbackServer { _ in .ok("here") } }
                let transport = CurlTransport(loops: 3)
                #expect(transport.loopHandles.isEmpty)
                let sinks = (0..<20).flatMap { _ in
                    servers.map { Self.start(transport, $0.url()).sink }
                }
                for sink in sinks { #expect(await sink.ended().text == "here") }
                #expect(transport.loopHandles.count == 3)
                #expect(transport.originCount == 12)
                await transport.shutDown()
                for sink in sinks {
                    #expect(sink.record.endings == 1)
                    #expect(sink.record.late == 0)
                }
            }

            @Test func `all attempts and connections of an origin are on one loop`() async throws {
                let servers = try (0..<6).map { _ in try LoopbackServer { _ in .ok("here") } }
                let transport = CurlTransport(loops: 3) { _ in .addresses(["127.0.0.1"]) }
                let threads = Locked<[Int: Set<UInt>]>([:])
                let sinks = (0..<8).flatMap { round in
                    servers.indices.map { index in
                        let sink = AttemptRecorder(onHead: { _ in
                            let thread = UInt(pthread_self())
                            threads.withLock { _ = $0[index, default: []].insert(thread) }
                        })
                        let host = round % 2 == 0 ? "named.test" : "NAMED.test"
                        let url = testURL("http://\(host):\(servers[index].port)/\(round)")
                        _ = transport.start(TransportRequest(url: url), sink: sink)
                        return sink
                    }
                }
                for sink in sinks { #expect(await sink.ended().text == "here") }
                let found = threads.withLock { $0 }
                #expect(found.values.allSatisfy { $0.count == 1 })
                #expect(found.values.reduce(into: Set<UInt>()) { $0.formUnion($1) }.count == 3)
                await transport.shutDown()
            }

            @Test func `cancelled attempts on several loops end exactly once`() async throws {
                let servers = try (0..<5).map { _ in try LoopbackServer { _ in .steps(.stall) } }
                let transport = CurlTransport(loops: 3)
                let attempts = (0..<6).flatMap { _ in
                    servers.map { Self.start(transport, $0.url()) }
                }
                for server in servers { await server.waitForHeads(6) }
                for attempt in attempts { attempt.task.cancel() }
                for attempt in attempts {
                    #expect(await attempt.sink.ended().error == .cancelled)
                }
                for server in servers { await server.waitForClosedConnections(6) }
                await transport.shutDown()
                for attempt in attempts { #expect(attempt.sink.record.endings == 1) }
            }

            @Test func `shutDown ends the attempts and threads of every loop`() async throws {
                let servers = try (0..<4).map { _ in try LoopbackServer { _ in .steps(.stall) } }
                let transport = CurlTransport(loops: 3)
                let sinks = servers.map { Self.start(transport, $0.url()).sink }
                for server in servers { await server.waitForHeads(1) }
                let loops = transport.loopHandles
                #expect(loops.count == 3)
                await transport.shutDown()
                #expect(loops.allSatisfy { !$0.isRunning })
                for sink in sinks {
                    #expect(sink.record.error == .serviceInvalidated)
                    #expect(sink.record.endings == 1)
                }
                #expect(await transport.get(servers[0].url()).error == .serviceInvalidated)
                #expect(transport.loopHandles.isEmpty)
                await transport.shutDown()
            }

            @Test func `a shutDown during starts on several loops ends every attempt once`()
                async throws
            {
                let servers = try (0..<4).map { _ in try LoopbackServer { _ in .ok("a") } }
                let transport = CurlTransport(loops: 3)
                await withTaskGroup(of: Int.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            if number == 50 { await transport.shutDown() }
                            return await transport.get(servers[number % 4].url()).endings
                        }
                    }
                    for await endings in group { #expect(endings == 1) }
                }
            }

            @Test func `a reset drops the idle connections of every loop`() async throws {
                let servers = try (0..<3).map { _ in try LoopbackServer { _ in .ok("here") } }
                let transport = CurlTransport(loops: 3)
                await transport.reset()
                for server in servers { #expect(await transport.get(server.url()).text == "here") }
                await transport.reset()
                for server in servers {
                    await server.waitForClosedConnections(1)
                    let record = await transport.get(server.url())
                    #expect(record.text == "here" && !record.report.reusedConnection)
                    #expect(await transport.get(server.url()).report.reusedConnection)
                }
                await transport.shutDown()
                await transport.reset()
            }

            @Test func `a released transport ends every thread after its last attempt`()
                async throws
            {
                let mayAnswer = LoopbackGate()
                let servers = try (0..<2).map { _ in
                    try LoopbackServer { _ in .ok("late").preceded(by: .wait(for: mayAnswer)) }
                }
                var transport: CurlTransport? = CurlTransport(loops: 2)
                let sinks = servers.compactMap { server in
                    transport.map { Self.start($0, server.url()).sink }
                }
                for server in servers { await server.waitForHeads(1) }
                let loops = try #require(transport?.loopHandles)
                #expect(loops.count == 2)
                transport = nil
                mayAnswer.open()
                for sink in sinks { #expect(await sink.ended().text == "late") }
                for loop in loops { await loop.waitUntilOver() }
            }

            @Test func `a sink that blocks holds up the attempts of its own loop only`()
                async throws
            {
                let servers = try (0..<2).map { _ in try LoopbackServer { _ in .ok("here") } }
                let transport = CurlTransport(loops: 2)
                let isBlocked = DispatchSemaphore(value: 0)
                let mayGoOn = DispatchSemaphore(value: 0)
                let blocking = AttemptRecorder(onHead: { _ in
                    isBlocked.signal()
                    mayGoOn.wait()
                })
                _ = transport.start(TransportRequest(url: servers[0].url()), sink: blocking)
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread {
                        isBlocked.wait()
                        continuation.resume()
                    }
                }
                #expect(await transport.get(servers[1].url()).text == "here")
                #expect(blocking.record.endings == 0)
                mayGoOn.signal()
                #expect(await blocking.ended().text == "here")
                await transport.shutDown()
            }

            @Test func `several loops together keep as many idle connections as one`() {
                #expect(IdleConnections(limit: 64).share(of: 1).limit == 64)
                #expect(IdleConnections(limit: 64).share(of: 3).limit == 22)
                #expect(IdleConnections(limit: 1).share(of: 64).limit == 1)
                #expect(LoopSetup().share(of: 2).lookupLimit == NameResolver.workerLimit / 2)
            }

            @Test(.disabled(if: isLeakChecked, "what was under way at exit counts as a leak"))
            func `a process exits at once while several loops run`() async {
                await #expect(processExitsWith: .exitCode(7)) {
                    let servers = try (0..<3).map { _ in try LoopbackServer { _ in .steps(.stall) }
                    }
                    let transport = CurlTransport(loops: 3)
                    let sinks = servers.map { Self.start(transport, $0.url()).sink }
                    for server in servers { await server.waitForHeads(1) }
                    try #require(sinks.allSatisfy { $0.record.endings == 0 })
                    exit(7)
                }
            }

            private static func start(
                _ transport: CurlTransport, _ url: URL
            ) -> (sink: AttemptRecorder, task: any TransportTask) {
                let sink = AttemptRecorder()
                return (sink, transport.start(TransportRequest(url: url), sink: sink))
            }
        }
    }
#endif
