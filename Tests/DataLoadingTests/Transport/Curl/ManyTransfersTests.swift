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
        /// More transfers at once than one multi handle takes.
        @Suite struct ManyTransfersTests {
            private static let capacity = 4
            private static let many = 3 * capacity

            private static func transport(lifetime: Duration = .seconds(60)) -> CurlTransport {
                CurlTransport(
                    idle: IdleConnections(
                        limit: 100, lifetime: lifetime, handleCapacity: capacity))
            }

            @Test func `the connections of many transfers are all used again, beside others`()
                async throws
            {
                let transport = Self.transport()
                let server = try LoopbackServer.answering(together: Self.many)
                await Self.get(Self.many, server, transport)
                #expect(server.connectionCount == Self.many)
                // These fill the first handles, which have idle connections to the other server.
                let gate = LoopbackGate()
                let held = try LoopbackServer.holding(at: gate)
                async let others: Void = Self.get(2 * Self.capacity, held, transport)
                await held.waitForHeads(2 * Self.capacity)
                await Self.get(Self.many, server, transport)
                #expect(server.connectionCount == Self.many)
                gate.open()
                await others
            }

            @Test
            func `the attempt for which a handle is added uses the idle connection of another`()
                async throws
            {
                let transport = Self.transport()
                let other = try LoopbackServer { _ in .ok("fine") }
                await Self.get(1, other, transport)
                let gate = LoopbackGate()
                let held = try LoopbackServer.holding(at: gate)
                async let others: Void = Self.get(Self.capacity, held, transport)
                await held.waitForHeads(Self.capacity)
                for _ in 0..<3 { await Self.get(1, other, transport) }
                #expect(other.connectionCount == 1)
                gate.open()
                await others
            }

            // A proxy opens no tunnel without TLS, so that its connections are for all hosts.
            @Test func `attempts to two hosts use one idle connection to their proxy`()
                async throws
            {
                let transport = Self.transport()
                let proxy = try LoopbackServer { _ in .ok("fine") }
                func attempt(_ host: String) throws -> TransportRequest {
                    var attempt = TransportRequest(url: try .host(host))
                    attempt.proxy = try Proxy("http://127.0.0.1:\(proxy.port)")
                    return attempt
                }
                _ = await transport.run(try attempt("one.test"))
                // They fill the first handle, which has the idle connection, and the second one.
                let gate = LoopbackGate()
                let held = try LoopbackServer.holding(at: gate)
                async let others: Void = Self.get(2 * Self.capacity, held, transport)
                await held.waitForHeads(2 * Self.capacity)
                for host in ["two.test", "one.test", "two.test"] {
                    #expect(await transport.run(try attempt(host)).text == "fine")
                }
                #expect(proxy.connectionCount == 1)
                gate.open()
                await others
            }

            @Test func `connections at two addresses of a host are told apart`() async throws {
                let transport = Self.transport()
                let both = try (0..<2).map { _ in try LoopbackServer { _ in .ok("fine") } }
                _ = await transport.run(try Self.attempt(at: both[0]))
                // They fill the first handle, which has the idle connection, and the second one.
                let gate = LoopbackGate()
                let held = try LoopbackServer.holding(at: gate)
                async let others: Void = Self.get(2 * Self.capacity, held, transport)
                await held.waitForHeads(2 * Self.capacity)
                // The one at the other address is the first to look for a connection.
                let sinks = [AttemptRecorder(), AttemptRecorder()]
                _ = transport.start(try Self.attempt(at: both[1]), sink: sinks[1])
                _ = transport.start(try Self.attempt(at: both[0]), sink: sinks[0])
                for sink in sinks { #expect(await sink.ended().text == "fine") }
                #expect(both.map(\.connectionCount) == [1, 1])
                gate.open()
                await others
            }

            /// A GET from a host at the address of a server.
            private static func attempt(at server: LoopbackServer) throws -> TransportRequest {
                var attempt = TransportRequest(url: try .host("origin.test"))
                attempt.address = "127.0.0.1:\(server.port)"
                return attempt
            }

            @Test func `handles that are not needed any more are closed, though one transfer runs`()
                async throws
            {
                let transport = Self.transport(lifetime: .milliseconds(100))
                let gate = LoopbackGate()
                let held = try LoopbackServer.holding(at: gate)
                // It keeps the loop from being idle, when it would close all of them.
                async let other: Void = Self.get(1, held, transport)
                await held.waitForHeads(1)
                let server = try LoopbackServer.answering(together: Self.many)
                await Self.get(Self.many, server, transport)
                // Those of the handle that is left are no more than fit into it.
                await eventually { server.openConnectionCount <= Self.capacity }
                gate.open()
                await other
            }

            /// Makes so many GETs at once.
            private static func get(
                _ count: Int, _ server: LoopbackServer, _ transport: CurlTransport
            ) async {
                var attempt = TransportRequest(url: server.url())
                attempt.idleTimeout = .seconds(60) * patience
                attempt.connectTimeout = .seconds(60) * patience
                let records = await transport.run(count, attempt)
                #expect(records.allSatisfy { $0.text == "fine" })
            }
        }
    }

    extension LoopbackServer {
        /// Answers when a gate is open.
        fileprivate static func holding(at gate: LoopbackGate) throws -> LoopbackServer {
            try LoopbackServer { _ in .ok("fine").preceded(by: .wait(for: gate)) }
        }

        /// Answers so many requests when all of them have come, and then the next ones.
        fileprivate static func answering(together count: Int) throws -> LoopbackServer {
            let arrived = Locked((count: 0, gate: LoopbackGate()))
            return try LoopbackServer { _ in
                let gate = arrived.withLock { arrived in
                    let gate = arrived.gate
                    arrived.count += 1
                    guard arrived.count == count else { return gate }
                    arrived = (0, LoopbackGate())
                    gate.open()
                    return gate
                }
                return .ok("fine").preceded(by: .wait(for: gate))
            }
        }
    }
#endif
