// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    @testable import DataLoadingURLSession
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension SocketTests {
        /// Attempts that end before their response does.
        @Suite struct URLSessionEndTests {
            private let transport = URLSessionTransport()

            @Test func `a cancel is delivered once, and closes the socket`() async throws {
                let server = try LoopbackServer { _ in .steps(.stall) }
                let sink = AttemptRecorder()
                let task = transport.start(TransportRequest(url: server.url()), sink: sink)
                await server.waitForHeads(1)
                task.cancel()
                task.cancel()
                let record = await sink.ended()
                #expect(record.error == .cancelled)
                #expect(record.failure?.sent == .written)
                #expect(record.endings == 1)
                await server.waitForClosedConnections(1)
            }

            @Test func `a cancel inside a callback lets no further byte pass`() async throws {
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

            // A cancel right after the start ends the process on Linux when the session has a
            // cache.
            @Test func `two thousand attempts can be cancelled right after their start`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("a") }
                for number in 0..<2_000 {
                    let sink = AttemptRecorder()
                    let task = transport.start(TransportRequest(url: server.url()), sink: sink)
                    if number % 50 == 0 { _ = await sink.ended() }
                    // Before the session has a task, and as soon as it has one.
                    if number % 2 == 0 { await transport.hasStarted() }
                    task.cancel()
                    _ = await sink.ended()
                    #expect(sink.record.endings == 1)
                }
                #expect(await transport.get(server.url()).text == "a")
            }

            @Test(.timeLimit(.minutes(15)))
            func `a start does not wait for a body that is being read`() async throws {
                let server = try LoopbackServer { .ok(.data($0.body)) }
                let stream = BlockingStream(data: Data("ab".utf8))
                var upload = TransportRequest(method: .put, url: server.url())
                upload.body = .stream { stream.opened }
                let uploaded = AttemptRecorder()
                _ = transport.start(upload, sink: uploaded)
                await stream.reached.opened()
                let other = URLSessionTransport()
                let sinks = (0..<3).map { _ in AttemptRecorder() }
                let tasks = sinks.map { other.start(TransportRequest(url: server.url()), sink: $0) }
                tasks[0].cancel()
                #expect(await sinks[0].ended().error == .cancelled)
                stream.mayGoOn.signal()
                #expect(await uploaded.ended().text == "ab")
                for sink in sinks.dropFirst() { #expect(await sink.ended().error == nil) }
            }

            @Test func `silence before the first activity has both limits`() async throws {
                let hole = try LoopbackBlackHole()
                let clock = ManualClock()
                let transport = clocked(clock)
                let sink = AttemptRecorder()
                _ = transport.start(TransportRequest(url: hole.url()), sink: sink)
                await clock.waitForAlarms(1)
                clock.advance(by: .milliseconds(39_999))
                #expect(sink.record.endings == 0)
                clock.advance(by: .milliseconds(1))
                let record = await sink.ended()
                #expect(record.error == .idleTimeout)
                #expect(record.failure?.sent == .written)
            }

            @Test func `silence inside the body has the idle limit`() async throws {
                let server = try LoopbackServer { _ in
                    .steps(.head(200, headers: ["Content-Length": "9"]), .flush, .stall)
                }
                let clock = ManualClock()
                let transport = clocked(clock)
                let began = LoopbackGate()
                let sink = AttemptRecorder(onHead: { _ in began.open() })
                var attempt = TransportRequest(url: server.url())
                attempt.connectTimeout = .zero
                _ = transport.start(attempt, sink: sink)
                await began.opened()
                clock.advance(by: .seconds(29))
                #expect(sink.record.endings == 0)
                clock.advance(by: .seconds(61))
                let record = await sink.ended()
                #expect(record.error == .idleTimeout)
                #expect(record.failure?.sent == .headReceived)
                await server.waitForClosedConnections(1)
            }

            @Test func `a paused attempt keeps what arrives until it is resumed`() async throws {
                let mayGoOn = LoopbackGate()
                let server = try LoopbackServer { _ in
                    .ok("hello").preceded(by: .wait(for: mayGoOn))
                }
                let sink = AttemptRecorder()
                var attempt = TransportRequest(url: server.url())
                attempt.streamsResponse = true
                let task = transport.start(attempt, sink: sink)
                task.pause()
                mayGoOn.open()
                _ = await transport.get(server.url())
                #expect(sink.record.byteCount == 0)
                #expect(sink.record.endings == 0)
                task.resume()
                #expect(await sink.ended().text == "hello")
            }

            #if canImport(FoundationNetworking)
                @Test func `an attempt whose window overflows fails`() async throws {
                    let server = try LoopbackServer { _ in .ok(.pattern(1 << 40)) }
                    let transport = URLSessionTransport(window: 1_000_000)
                    let began = LoopbackGate()
                    // Not with the first bytes: on a busy machine the window is full before the
                    // sink is called, and then there are none.
                    let sink = AttemptRecorder(keepsBody: false, onHead: { _ in began.open() })
                    var attempt = TransportRequest(url: server.url())
                    attempt.streamsResponse = true
                    attempt.bodyLimit = nil
                    let task = transport.start(attempt, sink: sink)
                    await began.opened()
                    task.pause()
                    let record = await sink.ended()
                    #expect(
                        record.error
                            == .unsupported(reason: "URLSession cannot apply back-pressure"))
                    #expect(record.failure?.sent == .headReceived)
                    #expect(record.endings == 1)
                    await server.waitForClosedConnections(1)
                }
            #endif

            @Test func `a transport without a window sends nothing`() async throws {
                let server = try LoopbackServer { _ in .ok("hello") }
                let record = await URLSessionTransport(window: 0).get(server.url())
                let reason = "URLSessionTransport.window is below one byte"
                #expect(record.error == .invalidConfiguration(reason: reason))
                #expect(record.failure?.sent == .nothingWritten)
                #expect(server.requests.isEmpty)
            }

            #if canImport(FoundationNetworking)
                @Test(arguments: ["", "body"])
                func `a request that was sent again in vain has been written`(body: String)
                    async throws
                {
                    let server = try LoopbackServer { request in
                        request.target == "/warm" ? .ok("warm") : .steps(.stall)
                    }
                    #expect(await transport.get(server.url("/warm")).text == "warm")
                    let sink = AttemptRecorder()
                    var attempt = TransportRequest(method: .post, url: server.url())
                    attempt.body = body.isEmpty ? nil : .data(Data(body.utf8))
                    _ = transport.start(attempt, sink: sink)
                    await server.waitForRequests(2)
                    server.goDown()
                    // Refused, unless libcurl takes the end for one that it must report.
                    #expect(await sink.ended().failure?.sent == .written)
                }

                @Test func `a body of which no byte was asked for was not written`() async throws {
                    let server = try LoopbackServer { _ in .ok("warm") }
                    #expect(await transport.get(server.url()).text == "warm")
                    server.goDown()
                    var attempt = TransportRequest(method: .post, url: server.url())
                    attempt.body = .data(Data("body".utf8))
                    let record = await transport.run(attempt)
                    #expect(record.error == .connectRefused)
                    #expect(record.failure?.sent == .nothingWritten)
                }
            #endif

            @Test func `shutDown ends running attempts and refuses later ones`() async throws {
                let server = try LoopbackServer { _ in .steps(.stall) }
                let sink = AttemptRecorder()
                _ = transport.start(TransportRequest(url: server.url()), sink: sink)
                await server.waitForHeads(1)
                await transport.shutDown()
                #expect(sink.record.error == .serviceInvalidated)
                #expect(sink.record.endings == 1)
                let later = await transport.get(server.url())
                #expect(later.error == .serviceInvalidated)
                #expect(later.failure?.sent == .nothingWritten)
                await transport.reset()
                await transport.shutDown()
                await server.waitForClosedConnections(1)
            }

            @Test func `a shutDown during starts does not end the process`() async throws {
                let server = try LoopbackServer { _ in .ok("a") }
                for _ in 0..<20 {
                    let transport = URLSessionTransport()
                    await withTaskGroup(of: Int.self) { group in
                        for _ in 0..<10 {
                            group.addTask { await transport.get(server.url()).endings }
                        }
                        group.addTask {
                            await transport.shutDown()
                            return 1
                        }
                        for await endings in group { #expect(endings == 1) }
                    }
                }
            }

            @Test func `a released transport finishes its running attempts`() async throws {
                let mayGoOn = LoopbackGate()
                let server = try LoopbackServer { _ in
                    .ok("a").preceded(by: .wait(for: mayGoOn))
                }
                let sink = AttemptRecorder()
                do {
                    let transport = URLSessionTransport()
                    _ = transport.start(TransportRequest(url: server.url()), sink: sink)
                }
                await server.waitForHeads(1)
                mayGoOn.open()
                #expect(await sink.ended().text == "a")
            }

            private func clocked(_ clock: ManualClock) -> URLSessionTransport {
                URLSessionTransport(
                    configuration: .ephemeral, window: 1_000_000,
                    timerQueue: TimerQueue(timekeeper: clock.timekeeper))
            }
        }
    }

    extension URLSessionTransport {
        /// Returns when every attempt started so far has its task.
        fileprivate func hasStarted() async {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                session.async { _ in continuation.resume() }
            }
        }
    }
#endif
