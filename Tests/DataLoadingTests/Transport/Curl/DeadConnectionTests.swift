// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Unused connections while one long stream runs.
        @Suite struct DeadConnectionTests {
            private let mayEnd = LoopbackGate()

            private func makeServer() throws -> LoopbackServer {
                try LoopbackServer(
                    handler: .routes([
                        "/stream": .always(
                            .steps(.head(200), .content(.text("first")), .stall)),
                        "/": .always(
                            .steps(
                                .head(200, headers: ["Content-Length": "2"]),
                                .content(.text("ok")), .wait(for: mayEnd), .halfClose, .drain)),
                    ]))
            }

            /// Begins a stream that does not end, and leaves another connection idle.
            private func play(
                _ transport: CurlTransport, _ server: LoopbackServer
            ) async -> any TransportTask {
                let began = LoopbackGate()
                var attempt = TransportRequest(url: server.url("/stream"))
                attempt.streamsResponse = true
                attempt.idleTimeout = .seconds(600)
                let task = transport.start(
                    attempt, sink: AttemptRecorder(onBytes: { _ in began.open() }))
                await began.opened()
                #expect(await transport.get(server.url("/")).text == "ok")
                #expect(server.connectionCount == 2)
                return task
            }

            @Test(.timeLimit(.minutes(15)))
            func `a connection that its server has ended is closed`() async throws {
                let server = try makeServer()
                let transport = CurlTransport()
                let stream = await play(transport, server)
                mayEnd.open()
                await server.waitForClosedConnections(1)
                #expect(server.openConnectionCount == 1)
                stream.cancel()
                await transport.shutDown()
            }

            @Test(.timeLimit(.minutes(15)))
            func `a connection that was opened before a reset is closed`() async throws {
                let server = try makeServer()
                let transport = CurlTransport()
                let stream = await play(transport, server)
                await transport.reset()
                // The server sees the end after it has announced that it is ready for it.
                mayEnd.open()
                await server.waitForClosedConnections(1)
                #expect(server.openConnectionCount == 1)
                stream.cancel()
                await transport.shutDown()
            }
        }
    }
#endif
