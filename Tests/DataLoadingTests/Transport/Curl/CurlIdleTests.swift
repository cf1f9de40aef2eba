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
        /// The number of connections that are kept without an attempt.
        @Suite struct CurlIdleTests {
            @Test func `no more connections stay idle than the limit, however many were in use`()
                async throws
            {
                let transport = CurlTransport(idle: IdleConnections(limit: 4))
                let servers = try (0..<3).map { _ in try Self.gatedServer(count: 8) }
                for server in servers { await Self.burst(8, transport, server) }
                await Self.expect(atMost: 4, servers)
                // They can still be used.
                let open = servers.first { $0.openConnectionCount > 0 }
                let server = try #require(open)
                #expect(await transport.get(server.url()).report.reusedConnection)
            }

            @Test func `a paused stream does not count as an idle connection`() async throws {
                let body = patternBytes(4_000_000)
                let big = try LoopbackServer { _ in .ok(.data(body)) }
                let server = try Self.gatedServer(count: 6)
                let transport = CurlTransport(idle: IdleConnections(limit: 1))
                let task = Locked<(any TransportTask)?>(nil)
                let hasTask = DispatchSemaphore(value: 0)
                let isFirst = Locked<Void?>(())
                let sink = AttemptRecorder(onBytes: { _ in
                    guard isFirst.withLock({ $0.take() }) != nil else { return }
                    hasTask.wait()
                    task.withLock { $0 }?.pause()
                })
                var attempt = TransportRequest(url: big.url())
                attempt.streamsResponse = true
                let stream = transport.start(attempt, sink: sink)
                task.withLock { $0 = stream }
                hasTask.signal()
                await Self.burst(6, transport, server)
                await Self.expect(atMost: 1, [server])
                stream.resume()
                #expect(await sink.ended().body == body)
                task.withLock { $0 = nil }
            }

            /// Responds after a number of requests have come.
            private static func gatedServer(count: Int) throws -> LoopbackServer {
                let arrived = Locked(0)
                let all = LoopbackGate()
                return try LoopbackServer { _ in
                    let number = arrived.withLock { arrived in
                        arrived += 1
                        return arrived
                    }
                    if number >= count { all.open() }
                    return .ok("fine").preceded(by: .wait(for: all))
                }
            }

            private static func burst(
                _ count: Int, _ transport: CurlTransport, _ server: LoopbackServer
            ) async {
                let records = await transport.run(count, TransportRequest(url: server.url()))
                #expect(records.allSatisfy { $0.text == "fine" })
            }

            private static func expect(atMost limit: Int, _ servers: [LoopbackServer]) async {
                func count() -> Int { servers.reduce(0) { $0 + $1.openConnectionCount } }
                let begun = ContinuousClock.now
                await eventually { count() <= limit || .now - begun > .seconds(60) * patience }
                #expect(count() <= limit)
            }
        }
    }
#endif
