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
        /// The connections and handles that are left after a machine's sleep and after a reset.
        @Suite struct CurlSleepTests {
            @Test func `a connection that was idle while the machine slept is not used`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("here") }
                let slept = Locked<Int64>(0)
                let transport = CurlTransport(sleep: SleepWatch { slept.withLock { $0 } })
                for _ in 0..<2 { #expect(await transport.get(server.url()).text == "here") }
                #expect(server.connectionCount == 1)
                slept.withLock { $0 += 3_600_000_000_000 }
                let record = await transport.get(server.url())
                #expect(record.text == "here")
                #expect(!record.report.reusedConnection)
                await server.waitForClosedConnections(1)
                #expect(server.connectionCount == 2)
            }

            @Test func `a reset drops the handles of attempts that have sent`() throws {
                let loop = try CurlLoop.make()
                _ = loop.pool.put(
                    try #require(CurlTransfer.make(for: loop)), running: 0, now: loop.now)
                loop.reset()
                #expect(loop.pool.count == 0)
                // The handle of an attempt that runs during a reset is not kept after it either.
                let sink = AttemptRecorder()
                let mailbox = loop.mailbox
                let attempt = TransportRequest(url: testURL("http://127.0.0.1:1/"))
                for resets in [0, 1] {
                    let task = CurlTask(request: attempt, sink: sink, mailbox: mailbox)
                    loop.start(task)
                    let transfer = try #require(loop.running.values.first)
                    for _ in 0..<resets { loop.reset() }
                    // As if it had a response, after which its handle would be kept.
                    transfer.state.sends = 1
                    transfer.state.routing.isOver = true
                    loop.finish(transfer, nil)
                    #expect(loop.pool.count == 1 - resets)
                }
                loop.close()
            }
        }
    }
#endif
