// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// What a machine's sleep and a reset leave of connections and handles.
        @Suite struct CurlSleepTests {
            @Test func `no connection is used that was idle while the machine slept`() async throws
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

            @Test func `a reset leaves no handle that has what an attempt has sent`() throws {
                let library = try #require(CurlLibrary.shared)
                let bell = try #require(EventDescriptor())
                let poll = try #require(EventPoll(watching: bell))
                let loop = CurlLoop(
                    library: library, mailbox: LoopMailbox(bell: bell), poll: poll,
                    setup: LoopSetup())
                loop.pool = [try #require(CurlTransfer.make(for: loop))]
                loop.reset()
                #expect(loop.pool.isEmpty)
                // One that runs during a reset is not kept after it either.
                let sink = AttemptRecorder()
                let mailbox = loop.mailbox
                let attempt = TransportRequest(url: testURL("http://127.0.0.1:1/"))
                for resets in [0, 1] {
                    let task = CurlTask(request: attempt, sink: sink, mailbox: mailbox)
                    loop.start(task)
                    let transfer = try #require(loop.running.values.first)
                    for _ in 0..<resets { loop.reset() }
                    // As one that was answered, which is worth keeping.
                    transfer.attempt.sends = 1
                    transfer.attempt.place.isOver = true
                    loop.finish(transfer, nil)
                    #expect(loop.pool.count == 1 - resets)
                }
                loop.close()
            }
        }
    }
#endif
