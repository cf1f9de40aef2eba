// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A paused attempt holds its server back, and loses and doubles no byte.
        @Suite(.serialized) struct CurlBackPressureTests {
            private let transport = CurlTransport()

            private func start(
                _ url: URL, _ sink: AttemptRecorder, idleTimeout: Duration
            ) -> any TransportTask {
                var attempt = TransportRequest(url: url)
                attempt.streamsResponse = true
                attempt.bodyLimit = nil
                attempt.idleTimeout = idleTimeout
                return transport.start(attempt, sink: sink)
            }

            @Test func `holds the server back while paused, and does not time out`() async throws {
                let isHeldBack = try await unhurried { try await holdBack(pace: $0) }
                #expect(isHeldBack)
            }

            /// False when the server took so long over something that the idle limit passed.
            private func holdBack(pace: Int) async throws -> Bool {
                let server = try LoopbackServer { _ in .ok(.pattern(100_000_000)) }
                let began = LoopbackGate()
                let handle = Locked<(any TransportTask)?>(nil)
                let isSet = DispatchSemaphore(value: 0)
                let sink = AttemptRecorder(
                    keepsBody: false,
                    onHead: { _ in
                        isSet.wait()
                        handle.withLock { $0 }?.pause()
                        began.open()
                    }, onEnd: { began.open() })
                let task = start(server.url(), sink, idleTimeout: .seconds(pace))
                handle.withLock { $0 = task }
                defer { handle.withLock { $0 = nil } }
                isSet.signal()
                await began.opened()
                guard sink.record.head != nil else { return false }
                // Longer than the idle limit, which stands still meanwhile.
                let other = try LoopbackServer { _ in
                    .ok("x").preceded(by: .pause(.milliseconds(1_200 * pace)))
                }
                #expect(await transport.get(other.url()).text == "x")
                var sent: Int64
                repeat {
                    // The server may not have come to fill the system's buffers yet.
                    sent = server.connections[0].bytesSent
                    #expect(await transport.get(other.url()).text == "x")
                } while sent < 30_000_000 && server.connections[0].bytesSent != sent
                #expect(sent < 30_000_000)
                #expect(sink.record.endings == 0)
                task.resume()
                return await sink.ended().byteCount == 100_000_000
            }

            @Test func `decodes no more than a step ahead while paused`() async throws {
                let size: Int64 = 100_000_000
                let bomb = LoopbackPayload.gzipBomb(inflatedCount: size)
                let server = try LoopbackServer { _ in
                    .ok(bomb, headers: ["Content-Encoding": "gzip"])
                }
                let checker = PausingChecker(pauseEvery: 1_000_000, isZero: true)
                let sink = AttemptRecorder(keepsBody: false, onBytes: { checker.check($0) })
                checker.watch(start(server.url(), sink, idleTimeout: .seconds(30)))
                let record = await sink.ended()
                checker.watch(nil)
                #expect(record.error == nil)
                #expect(record.byteCount == size)
                #expect(checker.isWhole)
                #expect(checker.pauses > 90)
                #expect(checker.mostWhilePaused <= 65_536)
                #expect(record.report.bodyBytesReceived == bomb.count)
                #expect(record.report.decodedBytes == size)
            }

            /// Loads a body that is held back from its head on, and goes on once all of it is there.
            private func loadHeldBack(
                _ server: LoopbackServer, bodyLimit: Int64? = nil
            ) async -> AttemptRecorder.Record {
                let handle = Locked<(any TransportTask)?>(nil)
                let isSet = DispatchSemaphore(value: 0)
                let isPaused = LoopbackGate()
                let sink = AttemptRecorder(onHead: { _ in
                    isSet.wait()
                    handle.withLock { $0 }?.pause()
                    isPaused.open()
                })
                var attempt = TransportRequest(url: server.url())
                attempt.streamsResponse = true
                attempt.bodyLimit = bodyLimit
                let task = transport.start(attempt, sink: sink)
                handle.withLock { $0 = task }
                isSet.signal()
                await isPaused.opened()
                // By then the loop has met the body, too.
                var other = TransportRequest(method: .head, url: server.url())
                other.bodyLimit = nil
                _ = await transport.run(other)
                task.resume()
                handle.withLock { $0 = nil }
                return await sink.ended()
            }

            // libcurl does not end a transfer whose held back bytes were refused.
            @Test func `that held back what is broken fails when it goes on`() async throws {
                let server = try LoopbackServer { _ in
                    .ok("no gzip", headers: ["Content-Encoding": "gzip"])
                }
                #expect(await loadHeldBack(server).error?.kind == "decode")
            }

            @Test func `that held back too much fails when it goes on`() async throws {
                let server = try LoopbackServer { _ in .chunked(["0123456789"]) }
                let record = await loadHeldBack(server, bodyLimit: 5)
                #expect(record.error == .bodyTooLarge(limit: 5))
                #expect(record.text.isEmpty)
            }
        }
    }

    /// Checks a body byte by byte, and pauses its task again and again; another thread resumes it.
    final class PausingChecker: Sendable {
        private struct State {
            var task: (any TransportTask)?
            var position: Int64 = 0
            var isWhole = true
            var isPaused = false
            var pauses = 0
            var sincePause: Int64 = 0
            var whilePaused: Int64 = 0
            var mostWhilePaused: Int64 = 0
        }

        private let state = Locked(State())
        private let pauseEvery: Int64
        private let isZero: Bool
        private let queue = DispatchQueue(label: "resume")
        private let isWatched = DispatchSemaphore(value: 0)

        init(pauseEvery: Int64, isZero: Bool = false) {
            self.pauseEvery = pauseEvery
            self.isZero = isZero
        }

        var isWhole: Bool { state.withLock { $0.isWhole } }
        var isPaused: Bool { state.withLock { $0.isPaused } }
        var pauses: Int { state.withLock { $0.pauses } }
        var mostWhilePaused: Int64 { state.withLock { $0.mostWhilePaused } }

        /// Takes the task to pause; nil at the end, as it keeps its sink and that keeps this.
        func watch(_ task: (any TransportTask)?) {
            state.withLock { $0.task = task }
            if task != nil { isWatched.signal() }
        }

        func check(_ bytes: Data) {
            // They may come before the task is known, without which there is no pause.
            if state.withLock({ $0.position }) == 0 { isWatched.wait() }
            let isZero = isZero
            let pauseEvery = pauseEvery
            let toPause: (any TransportTask)? = state.withLock { state in
                // The start of each piece shows what was lost or doubled before it.
                let start = bytes.prefix(64)
                let isRight =
                    isZero
                    ? start.allSatisfy { $0 == 0 }
                    : LoopbackPayload.patternMatches(start, at: state.position)
                state.isWhole = state.isWhole && isRight
                state.position += Int64(bytes.count)
                state.sincePause += Int64(bytes.count)
                if state.isPaused {
                    state.whilePaused += Int64(bytes.count)
                    state.mostWhilePaused = max(state.mostWhilePaused, state.whilePaused)
                }
                guard state.sincePause >= pauseEvery, !state.isPaused else { return nil }
                state.sincePause = 0
                state.isPaused = true
                state.pauses += 1
                return state.task
            }
            guard let toPause else { return }
            toPause.pause()
            queue.async { [self] in
                state.withLock { state in
                    state.isPaused = false
                    state.whilePaused = 0
                }
                toPause.resume()
            }
        }
    }

    /// Whether the address sanitizer, and with it the leak checker, is at work.
    let isLeakChecked = dlsym(nil, "__asan_init") != nil

    /// Whether the thread or address sanitizer is at work.
    let isSanitized = isLeakChecked || dlsym(nil, "__tsan_init") != nil

    /// The process's resident memory.
    func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * 4_096
    }
#endif
