// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Owners that are released with running loads: 2,000 loaders and 200 services, or 100,000 and
/// 10,000 with `DATALOADING_SOAK=1`.
@Suite struct ChurnSoakTests {
    private static let scale =
        ProcessInfo.processInfo.environment["DATALOADING_SOAK"] == "1" ? 50 : 1

    @Test func `loaders that are released leave nothing behind`() {
        let transport = SoakTransport()
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration, clock: ManualClock())
        let factory = service.makeFactory()
        let delegate = SoakDelegate()
        var generator = SeededGenerator(seed: 20_260_101)
        for _ in 0..<(2_000 * Self.scale) {
            var loader: DataLoader? = factory.makeDataLoader(delegate: delegate, delivery: .ofTests)
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                loader?.perform(.make { $0.chunks = Bool.random(using: &generator) })
            }
            let queue = loader?.queue
            queue?.sync {}
            loader = nil
            // A transport reports the end of a cancelled attempt some time later.
            for attempt in transport.takeStarted() {
                attempt.take()?.didFail(TransportFailure(.cancelled, sent: .written))
            }
            service.drainQueues()
            queue?.sync {}
        }
        #expect(service.runtime.liveLoads.live == 0)
        #expect(service.runtime.admission.isIdle && service.runtime.timerQueue.count == 0)
        #expect(delegate.counts.all == 0)
    }

    @Test func `services that are released leave nothing behind`() async {
        let delegate = SoakDelegate()
        var loads = 0
        for index in 0..<(200 * Self.scale) {
            let transport = SoakTransport()
            var configuration = DataLoaderService.Configuration()
            configuration.transport = transport
            var service: DataLoaderService? = DataLoaderService(
                configuration: configuration, clock: ManualClock())
            weak let dropped = service
            var loader: DataLoader? = service?.makeFactory().makeDataLoader(
                delegate: delegate, delivery: .ofTests)
            for _ in 0..<3 { loader?.perform(.make()) }
            loads += 3
            if index % 2 == 0 { service?.invalidateAndCancel() }
            loader?.cancelAllLoads()
            for attempt in transport.takeStarted() {
                attempt.take()?.didFail(TransportFailure(.cancelled, sent: .written))
            }
            loader?.queue.sync {}
            service?.drainQueues()
            #expect(service?.runtime.liveLoads.live == 0)
            loader = nil
            service = nil
            #expect(dropped == nil)
        }
        #expect(delegate.counts.all == loads)
    }
}
