// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Idle connections that no attempt may use any more.
        @Suite struct CurlRetiredTests {
            @Test func `a reset closes idle connections while a stream runs beside them`()
                async throws
            {
                let arrived = Locked(0)
                let all = LoopbackGate()
                let server = try LoopbackServer { request in
                    if request.target == "/stream" {
                        return .steps(
                            .head(200, headers: ["Content-Length": "4"]), .flush, .stall)
                    }
                    let count = arrived.withLock { arrived in
                        arrived += 1
                        return arrived
                    }
                    if count == 4 { all.open() }
                    return .ok("fine").preceded(by: .wait(for: all))
                }
                let transport = CurlTransport()
                var stream = TransportRequest(url: server.url("/stream"))
                stream.streamsResponse = true
                let sink = AttemptRecorder()
                let task = transport.start(stream, sink: sink)
                await server.waitForHeads(1)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            #expect(await transport.get(server.url()).text == "fine")
                        }
                    }
                }
                #expect(server.openConnectionCount == 5)
                await transport.reset()
                let begun = ContinuousClock.now
                await eventually {
                    server.openConnectionCount == 1 || .now - begun > .seconds(60) * patience
                }
                #expect(server.openConnectionCount == 1)
                #expect(sink.record.endings == 0)
                task.cancel()
                _ = await sink.ended()
            }
        }
    }
#endif
