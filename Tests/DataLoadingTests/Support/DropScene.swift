// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingTransport
    import DataLoadingSupport
    import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation

    /// A load at a given stage, on a real socket where the stage has one.
    final class DropScene: Sendable {
        /// What a load waits for when its owner is released.
        enum Stage: CaseIterable, Sendable {
            case rateLimited, authorising, backingOff, connecting, waitingForHead, midBody, paused

            /// Whether the server has a connection that must close.
            var hasConnection: Bool { [.waitingForHead, .midBody, .paused].contains(self) }

            /// The request targets that the server has seen by then.
            var targets: [String] {
                switch self {
                case .rateLimited, .authorising: []
                case .connecting: ["/started"]
                case .backingOff, .waitingForHead, .midBody, .paused: ["/load"]
                }
            }
        }

        let server: LoopbackServer
        let service: DataLoaderService
        let observer = RecordingObserver()
        let delegate: RecordingDelegate
        private let stage: Stage
        private let transport: SpyTransport
        private let policy = RecordingPolicy()
        private let authoriser = HoldingAuthoriser()
        private let sentinel: DataLoader
        private let loader: Locked<DataLoader?>
        private let unblock = DispatchSemaphore(value: 0)

        /// Makes a scene whose service and delegate each retain a canary.
        init(_ stage: Stage, gone: EventRecorder<Void> = EventRecorder()) async throws {
            self.stage = stage
            transport = SpyTransport(CurlTransport(), canary: Canary(gone))
            let canary = Canary(gone)
            let answer = Self.answer(at: stage)
            server = try LoopbackServer { $0.target == "/sentinel" ? .ok() : answer }
            var configuration = DataLoaderService.Configuration()
            configuration.transport = transport
            service = DataLoaderService(configuration: configuration)
            service.addConsumptionObserver(observer, on: DispatchQueue(label: "observer"))
            delegate = RecordingDelegate(
                supportsChunks: true,
                onEvent: { [unblock, canary] event in
                    _ = canary
                    if case .chunk = event, stage == .paused { unblock.wait() }
                })
            let factory = service.makeFactory(
                authorisers: stage == .authorising ? [authoriser] : [])
            loader = Locked(factory.makeDataLoader(delegate: delegate, delivery: .ofTests))
            sentinel = service.makeFactory().makeDataLoader()
            try await begin()
        }

        /// Releases the owner's only reference and what was held.
        func dropLoader() {
            loader.withLock { $0 = nil }
            authoriser.answerAll()
            unblock.signal()
        }

        /// Performs another load with the same service, so that anything left would show.
        func loadSentinel() async throws {
            service.rateLimiter.setRequestsPerSecond(nil, forPathOf: server.url("/load"))
            _ = try await sentinel.response(for: DataLoaderRequest(url: server.url("/sentinel")))
            _ = await observer.entries(stage == .connecting ? 3 : 2)
        }

        /// What the observers were told of the load.
        func ending() async -> RecordingObserver.Entry? {
            await observer.entries(stage == .connecting ? 2 : 1).last
        }

        /// Runs every stage once and returns when nothing of it is left.
        static func playEveryStage() async throws {
            for stage in Stage.allCases {
                let gone = EventRecorder<Void>()
                try await play(stage, gone)
                // The service was released with its transport, the delegate with its closure.
                _ = await gone.first(2)
            }
        }

        private static func play(_ stage: Stage, _ gone: EventRecorder<Void>) async throws {
            let scene = try await DropScene(stage, gone: gone)
            scene.dropLoader()
            _ = await scene.ending()
            await scene.service.shutDown(gracePeriod: .zero)
            scene.server.stop()
        }

        private func begin() async throws {
            var request = DataLoaderRequest(url: server.url("/load"))
            request.chunks = stage == .midBody || stage == .paused
            request.retryPolicy = policy
            let hole = stage == .connecting ? try LoopbackBlackHole() : nil
            if let hole { request.url = hole.url() }
            if stage == .rateLimited {
                service.rateLimiter.setRequestsPerSecond(0, forPathOf: request.url)
            }
            loader.withLock { $0 }?.perform(request)
            switch stage {
            case .rateLimited: break
            case .authorising: await authoriser.held(1)
            case .backingOff: await policy.asked()
            case .connecting: try await transportHasStarted()
            case .waitingForHead: _ = await server.waitForRequests(1)
            case .midBody: _ = await delegate.events(2)
            case .paused: _ = await transport.flowChanges(1)
            }
            _ = hole
        }

        /// Attempts start in order: once a later one has ended, the load's has started.
        private func transportHasStarted() async throws {
            _ = try await sentinel.response(for: DataLoaderRequest(url: server.url("/started")))
        }

        private static func answer(at stage: Stage) -> LoopbackResponse {
            switch stage {
            case .backingOff: .status(503)
            case .waitingForHead: .steps(.stall)
            case .midBody:
                .status(200, headers: ["Content-Length": "10"], body: "12345")
                    .followed(by: .flush, .stall)
            case .paused: .ok(.pattern(50_000_000))
            case .rateLimited, .authorising, .connecting: .ok()
            }
        }
    }

    /// A policy that returns a long pause and records that it was asked.
    private final class RecordingPolicy: RetryPolicy {
        private let questions = EventRecorder<Int>()

        func asked() async { _ = await questions.first(1) }

        func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
            guard outcome.isTransient else { return nil }
            questions.record(n)
            return .seconds(30)
        }
    }
#endif
