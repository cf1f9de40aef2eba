// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    import DataLoadingSupport
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation

    /// A load on a real socket at the point where it is cancelled.
    final class CancelScene: Sendable {
        let server: LoopbackServer
        let service: DataLoaderService
        let delegate: RecordingDelegate
        let observer = RecordingObserver()
        private let test: CancelCase
        private let transport: SpyTransport
        private let authoriser = HoldingAuthoriser()
        private let policy = AskedPolicy()
        private let lookedUp = EventRecorder<String>()
        private let unblock = DispatchSemaphore(value: 0)
        private let hasToken = DispatchSemaphore(value: 0)
        private let goOn = LoopbackGate()
        private let greeted = LoopbackGate()
        private let loader: Locked<DataLoader?>
        private let token = Locked<CancellationToken?>(nil)
        private let blocker: DataLoader
        private let shutDown = Locked<Task<Void, Never>?>(nil)
        private let onInitial: EventRecorder<Void>
        private let endInside: Locked<(@Sendable () -> Void)?>

        init(_ test: CancelCase) async throws {
            self.test = test
            let point = test.point
            let (lookedUp, unblock) = (lookedUp, unblock)
            transport = SpyTransport(
                CurlTransport(
                    loops: .ofTests,
                    lookup: { name in
                        guard point == .resolving else { return .addresses(["127.0.0.1"]) }
                        lookedUp.record(name)
                        unblock.wait()
                        return .unknown
                    }))
            server = try LoopbackServer(
                script: Self.script(at: point, goOn: goOn, greeted: greeted))
            var configuration = DataLoaderService.Configuration()
            configuration.transport = transport
            configuration.limits.perOrigin = point == .queued ? 1 : 8
            // libcurl reads the system's authorities in its first handshake, which can take longer
            // than the limit on a busy machine.
            configuration.serverTrustPolicy = ServerTrustPolicy(
                certificateAuthorities: TestIdentity.all?[.good]?.authority)
            service = DataLoaderService(configuration: configuration)
            service.addConsumptionObserver(observer, on: DispatchQueue(label: "observer"))
            let onInitial = EventRecorder<Void>()
            let endInside = Locked<(@Sendable () -> Void)?>(nil)
            let hasToken = hasToken
            self.onInitial = onInitial
            self.endInside = endInside
            let isFirst = Locked<Void?>(())
            delegate = RecordingDelegate(
                supportsChunks: true,
                onEvent: { event in
                    switch event {
                    case .initial where point == .insideCallback:
                        // The token may arrive after the response.
                        hasToken.wait()
                        endInside.withLock { $0 }?()
                        onInitial.record(())
                    case .chunk where point == .paused && isFirst.withLock({ $0.take() }) != nil:
                        unblock.wait()
                    default: break
                    }
                })
            blocker = service.makeFactory().makeDataLoader()
            let factory = service.makeFactory(
                authorisers: point == .authorising ? [authoriser] : [])
            // A delegate that blocks the transport's thread lets nothing be paused.
            loader = Locked(
                factory.makeDataLoader(
                    delegate: delegate, delivery: point == .paused ? .queue : .ofTests))
            try await arrive()
        }

        /// Cancels the load unless the callback has already done so.
        func end() {
            if test.point != .insideCallback { endNow() }
            // Releases what was held, if it still exists.
            unblock.signal()
            goOn.open()
        }

        /// Returns when nothing of the scene runs any more.
        func close() async {
            // Too late for the load, whatever ended it.
            authoriser.answerAll()
            await shutDown.withLock { $0 }?.value
            await service.shutDown(gracePeriod: .zero)
            server.stop()
        }

        /// What the observer was told of the cancelled load.
        func ending() async -> RecordingObserver.Entry? {
            // The end of the service also ends the load that blocks.
            let others = test.point == .queued && test.ender == .serviceShutDown ? 1 : 0
            let path = Self.path
            let count = 1 + (test.point == .connecting ? 1 : others)
            return await observer.entries(count).first {
                $0.response.request.url.path == path
            }
        }

        /// The number of requests of the load that the server saw.
        var requests: Int { server.requests.count { $0.path == Self.path } }

        private static let path = "/load"

        private func endNow() {
            switch test.ender {
            case .caller: token.withLock { $0 }?.cancel()
            case .loaderDeinit: loader.withLock { $0 = nil }
            case .serviceShutDown:
                let service = service
                shutDown.withLock {
                    // No other test has this thread.
                    $0 = DispatchQueue(label: "shut-down").task {
                        await service.shutDown(gracePeriod: .zero)
                    }
                }
            }
        }

        private func url(_ path: String, port: UInt16? = nil) -> URL {
            let scheme = test.point == .handshaking ? "https" : "http"
            return testURL("\(scheme)://origin.test:\(port ?? server.port)\(path)")
        }

        private func arrive() async throws {
            var request = DataLoaderRequest(url: url(Self.path))
            request.chunks = test.point.isInChunks
            request.retryPolicy = policy
            let hole = test.point == .connecting ? try LoopbackBlackHole() : nil
            if let hole { request.url = url(Self.path, port: hole.port) }
            if test.point == .writing {
                request.method = .post
                request.body = .data(Self.upload)
            }
            if test.point == .rateLimited {
                service.rateLimiter.setRequestsPerSecond(0, forPathOf: request.url)
            }
            if test.point == .queued {
                blocker.perform(DataLoaderRequest(url: url("/blocker")))
                await server.waitForHeads(1)
            }
            if test.point == .insideCallback {
                endInside.withLock { $0 = { [weak self] in self?.endNow() } }
            }
            let began = loader.withLock { $0 }?.perform(request)
            token.withLock { $0 = began }
            hasToken.signal()
            try await waitForPoint()
            withExtendedLifetime(hole) {}
        }

        private func waitForPoint() async throws {
            switch test.point {
            case .queued, .rateLimited: break
            case .authorising: await authoriser.held(1)
            case .resolving: _ = await lookedUp.first(1)
            case .connecting:
                // Attempts start in order: once a later one has ended, the load's has started.
                _ = try await blocker.response(for: DataLoaderRequest(url: url("/started")))
                _ = await observer.entries(1)
            case .handshaking: await greeted.opened()
            case .writing, .waitingForHead: await server.waitForHeads(1)
            case .midBody: _ = await delegate.events(2)
            case .paused: _ = await transport.flowChanges(1)
            case .backingOff: _ = await policy.questions.first(1)
            case .insideCallback: _ = await onInitial.first(1)
            }
        }

        /// More than the system's buffers hold.
        private static let upload = Data(count: 32 << 20)

        private static func script(
            at point: CancelCase.Point, goOn: LoopbackGate, greeted: LoopbackGate
        ) -> LoopbackScript {
            if point == .handshaking {
                return .converse { stream in
                    var hello = [UInt8](repeating: 0, count: 16)
                    _ = try hello.withUnsafeMutableBytes { try stream.read(into: $0) }
                    greeted.open()
                    try stream.waitForClient()
                }
            }
            let answer: LoopbackResponse =
                switch point {
                case .backingOff: .status(503)
                case .midBody, .insideCallback:
                    .status(200, headers: ["Content-Length": "10"], body: "12345")
                        .followed(by: .flush, .stall)
                case .paused: .ok(.pattern(50_000_000))
                default: .steps(.stall)
                }
            // The end of the connection comes after the data that the system has yet to send.
            let upload = LoopbackResponse.steps(.wait(for: goOn), .drain)
            return .serve(
                LoopbackHandler(
                    early: { point == .writing && $0.path == path ? upload : nil },
                    otherwise: { $0.path == "/started" ? .ok() : answer }))
        }
    }

    /// A policy that returns a long pause and records that it was asked.
    private final class AskedPolicy: RetryPolicy {
        let questions = EventRecorder<Int>()

        func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
            guard outcome.isTransient else { return nil }
            questions.record(n)
            return .seconds(30)
        }
    }
#endif
