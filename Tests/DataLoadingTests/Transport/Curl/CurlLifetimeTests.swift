// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        @Suite struct CurlLifetimeTests {
            @Test func `a transport has no thread before the first attempt and after shutDown`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("a") }
                let transport = CurlTransport(lookup: { _ in .unknown })
                #expect(transport.loopHandles.isEmpty)
                #expect(await transport.get(server.url()).text == "a")
                let loop = try #require(transport.loopHandles.first)
                #expect(loop.isRunning)
                await transport.shutDown()
                #expect(!loop.isRunning)
                await server.waitForClosedConnections(1)
                await transport.shutDown()
            }

            @Test func `shutDown ends running attempts and refuses later ones`() async throws {
                let server = try LoopbackServer { _ in .steps(.stall) }
                let transport = CurlTransport()
                let sinks = (0..<20).map { _ in AttemptRecorder() }
                for sink in sinks {
                    _ = transport.start(TransportRequest(url: server.url()), sink: sink)
                }
                await server.waitForHeads(20)
                await transport.shutDown()
                for sink in sinks {
                    #expect(sink.record.error == .serviceInvalidated)
                    #expect(sink.record.failure?.sent == .written)
                    #expect(sink.record.endings == 1)
                }
                await server.waitForClosedConnections(20)
                #expect(await transport.get(server.url()).error == .serviceInvalidated)
            }

            @Test func `a shutDown during starts ends every attempt once`() async throws {
                let server = try LoopbackServer { _ in .ok("a") }
                let transport = CurlTransport()
                await withTaskGroup(of: Int.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            if number == 50 { await transport.shutDown() }
                            return await transport.get(server.url()).endings
                        }
                    }
                    for await endings in group { #expect(endings == 1) }
                }
            }

            @Test func `idle connections are closed when nothing was loaded for a while`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("a") }
                let transport = CurlTransport(
                    idle: IdleConnections(lifetime: .milliseconds(50)))
                #expect(await transport.get(server.url()).text == "a")
                await server.waitForClosedConnections(1)
                #expect(await transport.get(server.url()).text == "a")
                #expect(server.connectionCount == 2)
            }

            @Test func `a shutDown before any attempt is permanent`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                let transport = CurlTransport()
                await transport.shutDown()
                #expect(await transport.get(server.url()).error == .serviceInvalidated)
                #expect(server.connectionCount == 0)
            }

            @Test func `a released transport ends its thread after its last attempt`()
                async throws
            {
                let mayAnswer = LoopbackGate()
                let server = try LoopbackServer { _ in
                    .ok("late").preceded(by: .wait(for: mayAnswer))
                }
                let sink = AttemptRecorder()
                var transport: CurlTransport? = CurlTransport()
                _ = transport?.start(TransportRequest(url: server.url()), sink: sink)
                let loop = try #require(transport?.loopHandles.first)
                await server.waitForHeads(1)
                transport = nil
                #expect(loop.isRunning)
                mayAnswer.open()
                #expect(await sink.ended().text == "late")
                await loop.waitUntilOver()
                await server.waitForClosedConnections(1)
            }

            @Test func `a reset does not end running attempts`() async throws {
                let mayAnswer = LoopbackGate()
                let server = try LoopbackServer(
                    handler: .routes([
                        "/slow": .always(.ok("slow").preceded(by: .wait(for: mayAnswer))),
                        "/fast": .always(.ok("fast")),
                    ]))
                let transport = CurlTransport()
                let sink = AttemptRecorder()
                _ = transport.start(TransportRequest(url: server.url("/slow")), sink: sink)
                await server.waitForHeads(1)
                await transport.reset()
                #expect(await transport.get(server.url("/fast")).text == "fast")
                mayAnswer.open()
                #expect(await sink.ended().text == "slow")
                // The old connections close with their last attempt; the new one stays open.
                await server.waitForClosedConnections(1)
                #expect(await transport.get(server.url("/fast")).report.reusedConnection)
            }
        }
    }
#endif
