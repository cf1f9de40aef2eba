// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Messages that come while a loop with several transfers looks for events.
        @Suite struct LoopWakingTests {
            @Test func `a loop that looks for events before it sleeps takes every message`()
                async throws
            {
                let held = try LoopbackServer { _ in .steps(.stall) }
                let server = try LoopbackServer { _ in .ok("here") }
                let transport = CurlTransport()
                let sinks = (0..<2).map { _ in AttemptRecorder() }
                for sink in sinks {
                    _ = transport.start(TransportRequest(url: held.url()), sink: sink)
                }
                await held.waitForHeads(2)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<100 {
                                let start = ContinuousClock.now
                                #expect(await transport.get(server.url()).text == "here")
                                // A loop that misses a message sleeps for 5 s.
                                #expect(.now - start < .seconds(5) * patience)
                            }
                        }
                    }
                }
                await transport.shutDown()
                for sink in sinks { #expect(sink.record.endings == 1) }
            }
        }
    }
#endif
