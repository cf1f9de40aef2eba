// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Synchronization
import Testing

/// The last reference to a loader may be released on any thread at any time.
@Suite struct DroppedOwnerTests {
    /// Ends the process if a round hangs, which fails the test.
    private static func watch() {
        alarm((rounds > 10_000 ? 3_000 : 600) * UInt32(clamping: patience))
    }

    /// The number of rounds: `ROUNDS` in the environment, for longer runs by hand.
    private static var rounds: Int {
        ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? 2_000
    }

    @Test func `a loader that is released while its listener is read does not deadlock`() async {
        await #expect(processExitsWith: .success) {
            Self.watch()
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport()
            let factory = DataLoaderService(configuration: configuration).makeFactory()
            for _ in 0..<Self.rounds {
                let loader = Locked<DataLoader?>(factory.makeDataLoader())
                guard let end = loader.withLock({ $0?.delegateEnd }) else { exit(3) }
                let stage = Stage()
                let isOver = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    stage.value.store(1, ordering: .releasing)
                    while stage.value.load(ordering: .acquiring) == 1 { _ = end.listener }
                    isOver.signal()
                }
                while stage.value.load(ordering: .acquiring) == 0 {}
                // Released outside the lock, like an owner's reference.
                _ = loader.withLock { $0.take() }
                stage.value.store(2, ordering: .releasing)
                isOver.wait()
            }
        }
    }

    /// 0 before the other thread runs, 1 while it reads, 2 to end it.
    private final class Stage: Sendable {
        let value = Atomic(0)
    }

    @Test func `delegates that are released in mid-stream do not deadlock`() async {
        await #expect(processExitsWith: .success) {
            Self.watch()
            var configuration = DataLoaderService.Configuration()
            let transport = ManualTransport()
            configuration.transport = transport
            let service = DataLoaderService(configuration: configuration)
            let factory = service.makeFactory()
            for round in 0..<min(Self.rounds, 300) {
                let owner = Locked<Owner?>(Owner(factory))
                owner.withLock { $0 }?.start()
                let attempt = await transport.attempts.first(round + 1)[round]
                attempt.sink.didReceive(ResponseHead(status: .ok))
                let sends = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    for _ in 0..<50 { attempt.sink.didReceive(Data(count: 10)) }
                    sends.signal()
                }
                _ = owner.withLock { $0.take() }
                sends.wait()
                attempt.sink.didFail(TransportFailure(.cancelled, sent: .written))
                attempt.letGo()
            }
            await service.shutDown(gracePeriod: .zero)
            guard service.runtime.liveLoads.live == 0 else { exit(4) }
        }
    }

    /// The recommended pattern: a delegate that owns its loader.
    private final class Owner: DataLoaderChunkDelegate {
        private let loader = Locked<DataLoader?>(nil)

        init(_ factory: DataLoaderFactory) {
            loader.withLock { $0 = factory.makeDataLoader(delegate: self, delivery: .ofTests) }
        }

        func start() { loader.withLock { $0 }?.perform(.make { $0.chunks = true }) }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
        ) {}

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
            forResponse response: DataLoaderResponse
        ) {}

        func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}

        func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
        ) {}

        func dataLoader(
            _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
        ) {}
    }

    @Test func `an object that a call releases may use the call in its deinit`() async {
        await #expect(processExitsWith: .success) {
            Self.watch()
            let bed = TestBed()
            let call = bed.loader.request(testURL("http://origin.test"), sourceIdentifier: nil)
            let gone = EventRecorder<Void>()
            do {
                let guest = Guest {
                    call.cancel()
                    gone.record(())
                }
                call.validate { _ in withExtendedLifetime(guest) {} }
            }
            call.cancel()
            _ = await gone.first(1)
        }
    }

    /// Runs a closure in its deinit.
    private final class Guest: Sendable {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        deinit { body() }
    }
}
