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
            private static let capacity = 64
            private static let many = 3 * capacity

            @Test func `the connections of many transfers are all used again`() async throws {
                let transport = CurlTransport(idle: IdleConnections(limit: Self.many))
                let server = try Self.gatedServer(count: Self.many)
                await Self.burst(transport, server)
                #expect(server.connectionCount == Self.many)
                await Self.burst(transport, server)
                #expect(server.connectionCount == Self.many)
            }

            @Test func `an idle connection from before is used beside many transfers`() async throws
            {
                let transport = CurlTransport(idle: IdleConnections(limit: Self.many))
                let other = try LoopbackServer { _ in .ok("fine") }
                _ = await transport.get(other.url())
                let hold = LoopbackGate()
                let server = try LoopbackServer { _ in .ok("fine").preceded(by: .wait(for: hold)) }
                async let burst: Void = Self.burst(transport, server)
                await eventually { server.requestCount == Self.many }
                for _ in 0..<3 {
                    #expect(await transport.get(other.url()).report.reusedConnection)
                }
                #expect(other.connectionCount == 1)
                hold.open()
                await burst
            }

            @Test func `the handles of many transfers are closed when they are not used any more`()
                async throws
            {
                let idle = IdleConnections(limit: Self.many, lifetime: .milliseconds(200))
                let transport = CurlTransport(idle: idle)
                let hold = LoopbackGate()
                let streams = try LoopbackServer { _ in .ok("fine").preceded(by: .wait(for: hold)) }
                // It keeps the loop from being idle, when it would close all of them.
                async let held = transport.get(streams.url())
                await eventually { streams.requestCount == 1 }
                let server = try Self.gatedServer(count: Self.many)
                await Self.burst(transport, server)
                // Those of the handle that is still used are within the limit.
                await eventually {
                    server.openConnectionCount < Self.capacity
                }
                hold.open()
                #expect(await held.text == "fine")
            }

            /// Responds to so many requests at once.
            private static func gatedServer(count: Int) throws -> LoopbackServer {
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

            private static func burst(_ transport: CurlTransport, _ server: LoopbackServer) async {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<many {
                        group.addTask {
                            #expect(await transport.get(server.url()).text == "fine")
                        }
                    }
                }
            }
        }
    }
#endif
