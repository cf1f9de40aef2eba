// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoadingSupport
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A paused attempt holds its server back, and neither loses nor repeats a byte.
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

            @Test func `a paused transfer holds its server back and does not time out`()
                async throws
            {
                let isHeldBack = try await unhurried { try await holdBack(pace: $0) }
                #expect(isHeldBack)
            }

            /// Returns false when the server was so slow that the idle limit passed.
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
                // Longer than the idle limit, which does not run while the attempt is paused.
                let other = try LoopbackServer { _ in
                    .ok("x").preceded(by: .pause(.milliseconds(1_200 * pace)))
                }
                #expect(await transport.get(other.url()).text == "x")
                var sent: Int64
                repeat {
                    // The server may not have filled the system's buffers yet.
                    sent = server.connections[0].bytesSent
                    #expect(await transport.get(other.url()).text == "x")
                } while sent < 30_000_000 && server.connections[0].bytesSent != sent
                #expect(sent < 30_000_000)
                #expect(sink.record.endings == 0)
                task.resume()
                return await sink.ended().byteCount == 100_000_000
            }

            @Test func `a paused transfer decodes no more than one step ahead`() async throws {
                let size: Int64 = 100_000_000
                let bomb = LoopbackPayload.gzipBomb(inflatedCount: size)
                let server = try LoopbackServer { _ in
                    .ok(bomb, headers: ["Content-Encoding": "gzip"])
                }
                let checker = PausingChecker(pauseEvery: 1_000_000, isZero: true)
                let sink = AttemptRecorder(keepsBody: false, onBytes: { checker.check($0) })
                checker.watch(start(server.url(), sink, idleTimeout: .seconds(60)))
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

            /// Loads a body that is paused from its head on, and resumes after all of it has
            /// arrived.
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
                // By then the loop has received the body, too.
                var other = TransportRequest(method: .head, url: server.url())
                other.bodyLimit = nil
                _ = await transport.run(other)
                task.resume()
                handle.withLock { $0 = nil }
                return await sink.ended()
            }

            // libcurl does not end a transfer whose held bytes were refused.
            @Test func `chunks that arrive while paused and are broken fail the transfer`()
                async throws
            {
                let server = try LoopbackServer { _ in
                    .ok("no gzip", headers: ["Content-Encoding": "gzip"])
                }
                #expect(await loadHeldBack(server).error?.name == "decode")
            }

            @Test func `chunks that arrive while paused and exceed the limit fail the transfer`()
                async throws
            {
                let server = try LoopbackServer { _ in .chunked(["0123456789"]) }
                let record = await loadHeldBack(server, bodyLimit: 5)
                #expect(record.error == .bodyTooLarge(limit: 5))
                #expect(record.text.isEmpty)
            }
        }
    }

    /// Checks a body byte by byte, and pauses its task repeatedly; another thread resumes it.
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

        /// Sets the task to pause; nil at the end, because the task retains its sink, which retains
        /// this.
        func watch(_ task: (any TransportTask)?) {
            state.withLock { $0.task = task }
            if task != nil { isWatched.signal() }
        }

        func check(_ bytes: Data) {
            // Bytes may come before the task is known, and without it nothing can be paused.
            if state.withLock({ $0.position }) == 0 { isWatched.wait() }
            let isZero = isZero
            let pauseEvery = pauseEvery
            let toPause: (any TransportTask)? = state.withLock { state in
                // The start of each piece shows what was lost or repeated before it.
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

    /// Whether the address sanitizer, and with it the leak checker, is active.
    let isLeakChecked = dlsym(nil, "__asan_init") != nil

    /// Whether the thread or address sanitizer is active.
    let isSanitized = isLeakChecked || dlsym(nil, "__tsan_init") != nil

    /// The process's resident memory.
    func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * 4_096
    }
#endif
