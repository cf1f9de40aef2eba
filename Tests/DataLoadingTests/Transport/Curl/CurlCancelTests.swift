// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    import DataLoadingSupport
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        /// A cancel in each phase: one end, at once, and no socket left open.
        @Suite struct CurlCancelTests {
            private let transport = CurlTransport()

            /// Cancels an attempt in a certain phase, and returns how long its end took.
            private func cancel(
                _ task: any TransportTask, _ sink: AttemptRecorder, sent: SentState
            ) async -> Duration {
                let start = ContinuousClock.now
                task.cancel()
                let record = await sink.ended()
                #expect(record.error == .cancelled)
                #expect(record.failure?.sent == sent)
                #expect(record.endings == 1)
                return record.time(since: start)
            }

            /// Runs a scene that returns how long the end of its attempt took.
            private func expectPrompt(_ play: () async throws -> Duration) async throws {
                let usual = try await usually(play)
                #expect(usual.keeps(.milliseconds(100)), "\(usual)")
            }

            @Test func `an attempt that is cancelled before it was started ends as cancelled`()
                async throws
            {
                // No response can come before the cancellation.
                let isOver = LoopbackGate()
                defer { isOver.open() }
                let server = try LoopbackServer { _ in .ok().preceded(by: .wait(for: isOver)) }
                let sink = AttemptRecorder()
                let task = transport.start(TransportRequest(url: server.url()), sink: sink)
                task.cancel()
                task.cancel()
                let record = await sink.ended()
                #expect(record.error == .cancelled)
                #expect(record.endings == 1)
            }

            @Test func `an attempt can be cancelled while its name is looked up`() async throws {
                try await expectPrompt {
                    let answer = DispatchSemaphore(value: 0)
                    let asked = LoopbackGate()
                    let transport = CurlTransport(lookup: { _ in
                        asked.open()
                        answer.wait()
                        return .unknown
                    })
                    let sink = AttemptRecorder()
                    let task = transport.start(
                        try TransportRequest(url: .host("slow.test")), sink: sink)
                    await asked.opened()
                    defer { answer.signal() }
                    return await cancel(task, sink, sent: .nothingWritten)
                }
            }

            @Test func `an attempt can be cancelled while it connects`() async throws {
                try await expectPrompt {
                    let hole = try LoopbackBlackHole()
                    let sink = AttemptRecorder()
                    let task = transport.start(TransportRequest(url: hole.url()), sink: sink)
                    await transport.settle()
                    return await cancel(task, sink, sent: .nothingWritten)
                }
            }

            @Test func `an attempt can be cancelled while it waits for the head`() async throws {
                try await expectPrompt {
                    let server = try LoopbackServer { _ in .steps(.stall) }
                    let sink = AttemptRecorder()
                    let task = transport.start(TransportRequest(url: server.url()), sink: sink)
                    await server.waitForHeads(1)
                    let time = await cancel(task, sink, sent: .written)
                    await server.waitForClosedConnections(1)
                    return time
                }
            }

            @Test func `an attempt can be cancelled while it sends its body`() async throws {
                try await expectPrompt {
                    // A server that does not read would not see the end behind the bytes before it.
                    let isCancelled = LoopbackGate()
                    let server = try LoopbackServer(
                        handler: LoopbackHandler(
                            early: { _ in .steps(.wait(for: isCancelled), .drain) },
                            otherwise: { _ in .ok() }))
                    var attempt = TransportRequest(method: .post, url: server.url())
                    attempt.body = .data(Data(count: 50_000_000))
                    let sink = AttemptRecorder()
                    let task = transport.start(attempt, sink: sink)
                    await server.waitForHeads(1)
                    let time = await cancel(task, sink, sent: .written)
                    isCancelled.open()
                    await server.waitForClosedConnections(1)
                    #expect(server.connections[0].bytesReceived < 50_000_000)
                    return time
                }
            }

            @Test(arguments: [false, true])
            func `an attempt can be cancelled inside the body, paused or not`(
                isPaused: Bool
            ) async throws {
                try await expectPrompt {
                    let server = try LoopbackServer { _ in .ok(.pattern(1 << 40)) }
                    let began = LoopbackGate()
                    let sink = AttemptRecorder(keepsBody: false, onBytes: { _ in began.open() })
                    var attempt = TransportRequest(url: server.url())
                    attempt.streamsResponse = true
                    attempt.bodyLimit = nil
                    let task = transport.start(attempt, sink: sink)
                    await began.opened()
                    if isPaused { task.pause() }
                    let time = await cancel(task, sink, sent: .headReceived)
                    await server.waitForClosedConnections(1)
                    return time
                }
            }

            @Test func `an attempt that is cancelled inside a callback delivers no further byte`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok(.pattern(10_000_000)) }
                let handle = Locked<(any TransportTask)?>(nil)
                let mayGoOn = DispatchSemaphore(value: 0)
                let sink = AttemptRecorder(onHead: { _ in
                    mayGoOn.wait()
                    handle.withLock { $0 }?.cancel()
                })
                let task = transport.start(TransportRequest(url: server.url()), sink: sink)
                handle.withLock { $0 = task }
                mayGoOn.signal()
                let record = await sink.ended()
                #expect(record.error == .cancelled)
                #expect(record.byteCount == 0)
                handle.withLock { $0 = nil }
            }

            @Test func `an attempt ends once, however often and late it is cancelled`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("a") }
                var sinks: [AttemptRecorder] = []
                for number in 0..<300 {
                    let sink = AttemptRecorder()
                    let task = transport.start(TransportRequest(url: server.url()), sink: sink)
                    if number % 3 == 0 { task.cancel() }
                    if number % 3 == 1 { _ = await sink.ended() }
                    task.cancel()
                    sinks.append(sink)
                }
                for sink in sinks {
                    _ = await sink.ended()
                    #expect(sink.record.endings == 1)
                }
                #expect(await transport.get(server.url()).text == "a")
            }

            @Test func `the server of a cancelled attempt sees its socket closed within 100 ms`()
                async throws
            {
                let usual = try await usually {
                    let sink = AttemptRecorder()
                    let stalled = try LoopbackServer { _ in .steps(.stall) }
                    let task = transport.start(TransportRequest(url: stalled.url()), sink: sink)
                    await stalled.waitForHeads(1)
                    let start = ContinuousClock.now
                    task.cancel()
                    await stalled.waitForClosedConnections(1)
                    return ContinuousClock.now - start
                }
                #expect(usual.keeps(.milliseconds(100)), "\(usual)")
            }
        }
    }

    extension CurlTransport {
        /// Returns when the loop has taken every earlier message.
        func settle() async {
            let sink = AttemptRecorder()
            var nothing = TransportRequest(url: URL(fileURLWithPath: "/"))
            nothing.cachePolicy = .cacheOnly
            _ = start(nothing, sink: sink)
            _ = await sink.ended()
        }
    }
#endif
