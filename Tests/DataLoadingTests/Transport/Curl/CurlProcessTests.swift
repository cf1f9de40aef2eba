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
        /// Tests of the process as a whole, each in a process of its own.
        @Suite struct CurlProcessTests {
            @Test func `a lack of descriptors is reported, and loads work again afterwards`() async
            {
                await #expect(processExitsWith: .success) {
                    let transport = CurlTransport(lookup: { _ in .unknown })
                    let url = try #require(URL(string: "http://127.0.0.1:1/"))
                    let before = await transport.get(url)
                    try #require(before.error == .connectRefused)
                    let taken = try TakenDescriptors()
                    let without = await transport.get(url)
                    taken.giveBack()
                    try #require(without.error?.isResources == true)
                    try #require(without.failure?.sent == .nothingWritten)
                    let after = await transport.get(url)
                    try #require(after.error == .connectRefused)
                }
            }

            @Test func `a transport starts only when descriptors are available`() async {
                await #expect(processExitsWith: .success) {
                    let transport = CurlTransport(lookup: { _ in .unknown })
                    let url = try #require(URL(string: "http://127.0.0.1:1/"))
                    // The library is loaded; only the loop is missing.
                    await CurlTransport(lookup: { _ in .unknown }).settle()
                    var taken: [Int32] = []
                    while case let copy = dup(0), copy >= 0 { taken.append(copy) }
                    let without = await transport.get(url)
                    for copy in taken { close(copy) }
                    try #require(without.error?.isResources == true)
                    try #require(await transport.get(url).error == .connectRefused)
                }
            }

            // The second last descriptor becomes the eventfd, and the one for epoll is missing.
            @Test(arguments: [1, 2])
            func `a transport starts completely or not at all with few descriptors left`(left: Int)
                async
            {
                await #expect(processExitsWith: .success) { [left] in
                    let transport = CurlTransport(lookup: { _ in .unknown })
                    let url = try #require(URL(string: "http://127.0.0.1:1/"))
                    let first = CurlTransport(lookup: { _ in .unknown })
                    await first.settle()
                    await first.shutDown()
                    var attempt = TransportRequest(url: url)
                    attempt.connectTimeout = .milliseconds(500)
                    var taken: [Int32] = []
                    while case let copy = dup(0), copy >= 0 { taken.append(copy) }
                    for copy in taken.suffix(left) { close(copy) }
                    let without = await transport.run(attempt)
                    for copy in taken.dropLast(left) { close(copy) }
                    try #require(without.error?.isResources == true)
                    try #require(await transport.run(attempt).error == .connectRefused)
                    let spent = try Self.processTime {
                        try #require(usleep(200_000) == 0)
                    }
                    try #require(spent < 0.1)
                }
            }

            /// Returns the processor time that the whole process uses.
            private static func processTime(of body: () throws -> Void) rethrows -> Double {
                let begun = clock()
                try body()
                return Double(clock() - begun) / Double(CLOCKS_PER_SEC)
            }

            @Test(.disabled(if: isSanitized, "a sanitizer's copy cannot start threads"))
            func `an attempt in a forked copy of the process is refused`() async {
                await #expect(processExitsWith: .success) {
                    let transport = CurlTransport(lookup: { _ in .unknown })
                    await transport.settle()
                    let url = try #require(URL(string: "http://127.0.0.1:1/"))
                    let child = try forkProcess()
                    guard child == 0 else {
                        var status: Int32 = -1
                        waitpid(child, &status, 0)
                        try #require(status == 0)
                        return
                    }
                    let refused = DispatchSemaphore(value: 0)
                    let sink = RefusalSink { error in
                        if error.isUnsupported { refused.signal() }
                    }
                    _ = transport.start(TransportRequest(url: url), sink: sink)
                    _exit(refused.wait(timeout: .now() + .seconds(60)) == .success ? 0 : 1)
                }
            }

            @Test(.disabled(if: isSanitized, "a sanitizer's copy cannot start threads"))
            func `a copy that was forked in a delegate's call does not run the loop`() async {
                await #expect(processExitsWith: .success) {
                    let server = try LoopbackServer { _ in .ok("body") }
                    let delegate = ForkingDelegate()
                    let factory = DataLoaderService().makeFactory()
                    for count in 1...4 {
                        // A new loader, because forking takes so long that a later call of the same
                        // one comes on its queue.
                        let loader = factory.makeDataLoader(delegate: delegate)
                        loader.perform(DataLoaderRequest(url: server.url()))
                        try #require(await delegate.children.first(count).last ?? 0 > 0)
                        withExtendedLifetime(loader) {}
                    }
                    // A child that continued would not end.
                    for child in delegate.children.elements {
                        var status: Int32 = -1
                        try #require(waitpid(child, &status, 0) == child)
                        try #require(status == 0)
                    }
                    try #require(server.requestCount == 4)
                }
            }

            @Test func `a body of 600 MB is read in small steps, in bounded memory`() async {
                await #expect(processExitsWith: .success) {
                    let size: Int64 = 600_000_000
                    let server = try LoopbackServer { _ in .ok(.pattern(size)) }
                    let checker = PausingChecker(pauseEvery: 25_000_000)
                    let before = residentBytes()
                    let peak = Locked(0)
                    let sink = AttemptRecorder(
                        keepsBody: false,
                        onBytes: { bytes in
                            checker.check(bytes)
                            guard checker.isPaused else { return }
                            let now = residentBytes()
                            peak.withLock { $0 = max($0, now) }
                        })
                    var attempt = TransportRequest(url: server.url())
                    attempt.streamsResponse = true
                    attempt.bodyLimit = nil
                    checker.watch(CurlTransport().start(attempt, sink: sink))
                    let record = await sink.ended()
                    checker.watch(nil)
                    try #require(record.error == nil)
                    try #require(record.byteCount == size)
                    try #require(checker.isWhole)
                    try #require(checker.pauses > 20)
                    // The sanitizers keep a shadow of every byte.
                    try #require(isSanitized || peak.withLock { $0 } - before < 64_000_000)
                }
            }

            @Test(.disabled(if: isLeakChecked, "what was under way at exit counts as a leak"))
            func `the process exits while loads are running`() async {
                await #expect(processExitsWith: .exitCode(7)) {
                    let server = try LoopbackServer { _ in .ok(.pattern(1 << 40)) }
                    let transport = CurlTransport()
                    for _ in 0..<16 {
                        var attempt = TransportRequest(url: server.url())
                        attempt.bodyLimit = nil
                        _ = transport.start(attempt, sink: AttemptRecorder(keepsBody: false))
                    }
                    await server.waitForHeads(16)
                    exit(7)
                }
            }

            @Test(.disabled(if: isLeakChecked, "what was under way at exit counts as a leak"))
            func `the process exits from inside a sink's callback`() async {
                await #expect(processExitsWith: .exitCode(8)) {
                    let server = try LoopbackServer { _ in .ok("x") }
                    let sink = AttemptRecorder(onHead: { _ in exit(8) })
                    _ = CurlTransport().start(TransportRequest(url: server.url()), sink: sink)
                    _ = await sink.ended()
                }
            }
        }
    }

    private final class RefusalSink: TransportSink {
        private let onFailure: @Sendable (DataLoaderError) -> Void

        init(onFailure: @escaping @Sendable (DataLoaderError) -> Void) {
            self.onFailure = onFailure
        }

        func didReceive(_ head: ResponseHead) {}
        func didReceive(_ bytes: Data) {}
        func didEnd(_ report: TransportReport) {}
        func didFail(_ failure: TransportFailure) { onFailure(failure.error) }
    }

    /// Forks; Swift hides this because it is dangerous, and the danger is tested here.
    private func forkProcess() throws -> pid_t {
        let symbol = try #require(dlsym(nil, "fork"))
        return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
    }

    /// Forks in each outcome; a child returns from the call, and its thread ends the process.
    private final class ForkingDelegate: DataLoaderDelegate {
        let children = EventRecorder<pid_t>()

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
        ) {
            let child = (try? forkProcess()) ?? -1
            if child != 0 { children.record(child) }
        }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
        ) { children.record(-1) }

        func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
            children.record(-1)
        }
    }
#endif
