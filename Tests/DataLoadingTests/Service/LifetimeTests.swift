// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// The shared service, shutdown, and what a service retains.
@Suite struct LifetimeTests {
    @Test func `a shutdown finishes running loads, refuses new ones and shuts the transport down`()
        async
    {
        let bed = TestBed()
        bed.loader.perform(.make("/old"))
        let attempt = await bed.attempt(0)
        async let end = bed.service.shutDown(gracePeriod: .seconds(30))
        // The grace period's alarm comes before the load's own deadline.
        await bed.clock.waitForAlarms(1, within: .seconds(30))
        bed.loader.perform(.make("/new"))
        #expect(bed.error == .serviceInvalidated)
        attempt.respond(status: 200)
        _ = await end
        #expect(bed.transport.isShutDown)
        #expect(bed.delegate.events.map { $0.response?.error } == [.serviceInvalidated, nil])
        bed.expectNothingLeft()
    }

    @Test func `a shutdown cancels the remaining loads after the grace period`() async {
        let bed = TestBed()
        bed.loader.perform(.make())
        let attempt = await bed.attempt(0)
        async let end = bed.service.shutDown(gracePeriod: .seconds(5))
        await bed.clock.waitForAlarms(1, within: .seconds(5))
        bed.clock.advance(by: .seconds(5))
        _ = await end
        #expect(attempt.isCancelled)
        #expect(bed.error == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a delegate that performs another load for each that ends delays no shutdown`() async
    {
        let service = DataLoaderService(
            configuration: {
                var configuration = DataLoaderService.Configuration()
                configuration.transport = ScriptedTransport(otherwise: .respond(status: 200))
                return configuration
            }())
        let delegate = EndlessDelegate()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate)
        for _ in 0..<8 { loader.perform(.make()) }
        _ = await delegate.outcomes.first(100)
        // Each refused load is followed by another one, until the delegate is told to stop.
        #expect(await service.shutDown(gracePeriod: .zero) == LeftBehind())
        delegate.stops.withLock { $0 = true }
        withExtendedLifetime(loader) {}
    }

    @Test func `a shutdown without a grace period cancels all loads at once`() async {
        for grace in [Duration.zero, .seconds(-1)] {
            let bed = TestBed()
            bed.loader.perform(.make())
            bed.loader.perform(.make { $0.chunks = true })
            await bed.service.shutDown(gracePeriod: grace)
            #expect(bed.delegate.outcomeCount == 2)
            #expect(bed.transport.isShutDown)
            bed.expectNothingLeft()
        }
    }

    @Test func `a shutdown returns 2 s after the grace period when a delegate queue is blocked`()
        async
    {
        let queue = DispatchQueue(label: "blocked")
        let bed = TestBed(delegateQueue: queue)
        bed.loader.perform(.make())
        queue.suspend()
        async let end = bed.service.shutDown(gracePeriod: .zero)
        await bed.clock.waitForAlarms(1, within: .seconds(2))
        bed.clock.advance(by: .seconds(2))
        _ = await end
        #expect(bed.transport.isShutDown)
        queue.resume()
        #expect(bed.error == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a service may be shut down twice concurrently and after it was invalidated`() async
    {
        let bed = TestBed()
        bed.service.invalidateAndCancel()
        async let first = bed.service.shutDown(gracePeriod: .seconds(1))
        async let second = bed.service.shutDown(gracePeriod: .seconds(1))
        _ = await (first, second)
        bed.service.invalidateAndCancel()
        bed.loader.perform(.make())
        #expect(bed.error == .serviceInvalidated)
        bed.expectNothingLeft()
    }

    @Test func `a service without loads shuts down at once`() async {
        let bed = TestBed()
        await bed.service.shutDown(gracePeriod: .seconds(60))
        #expect(bed.transport.isShutDown)
    }

    @Test func `a service continues after all its loads were cancelled`() async {
        let bed = TestBed()
        for _ in 0..<3 { bed.loader.perform(.make()) }
        bed.service.cancelAllLoads()
        bed.settle()
        #expect(bed.delegate.events.count == 3)
        bed.loader.perform(.make())
        await bed.attempt(3).respond(status: 200)
        #expect(bed.error == nil)
    }

    // The slot of a cancelled load must not go to a load that is about to be cancelled.
    @Test func `no waiting load is sent while all loads are cancelled`() async {
        for end in [
            { (service: DataLoaderService, _) in service.cancelAllLoads() },
            { service, _ in service.invalidateAndCancel() },
            { _, loader in loader.cancelAllLoads() },
        ] as [(DataLoaderService, DataLoader) -> Void] {
            let transport = PromptTransport()
            var configuration = DataLoaderService.Configuration()
            configuration.transport = transport
            configuration.limits.perOrigin = 1
            let service = DataLoaderService(configuration: configuration, clock: ManualClock())
            let delegate = RecordingDelegate()
            let loader = service.makeFactory().makeDataLoader(delegate: delegate)
            for path in ["/a", "/b", "/c"] { loader.perform(.make(path)) }
            end(service, loader)
            _ = await delegate.outcomes(3)
            #expect(transport.starts.withLock { $0 } == 1)
        }
    }

    @Test func `what a service owns lives as long as its loads and no longer`() async {
        weak var service: DataLoaderService?
        weak var factory: DataLoaderFactory?
        weak var runtime: Runtime?
        let transport = ScriptedTransport()
        let delegate = RecordingDelegate()
        do {
            var configuration = DataLoaderService.Configuration()
            configuration.transport = transport
            let strong = DataLoaderService(configuration: configuration, clock: ManualClock())
            service = strong
            runtime = strong.runtime
            let loader: DataLoader
            do {
                let strongFactory = strong.makeFactory()
                factory = strongFactory
                loader = strongFactory.makeDataLoader(delegate: delegate)
            }
            loader.perform(.make())
            #expect(runtime != nil)
            await transport.attempts(1)[0].respond(status: 200)
            _ = await delegate.outcomes(1)
            loader.queue.sync {}
        }
        transport.flush()
        #expect(factory == nil)
        #expect(service == nil)
        #expect(runtime == nil)
    }

    @Test func `a service keeps no delegate, loader or load that has ended`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        weak var delegate: RecordingDelegate?
        weak var loader: DataLoader?
        weak var load: Load?
        do {
            let strongDelegate = RecordingDelegate()
            let strongLoader = bed.factory.makeDataLoader(delegate: strongDelegate)
            delegate = strongDelegate
            loader = strongLoader
            strongLoader.perform(.make())
            load = strongLoader.registry.loads.first
            _ = await strongDelegate.outcomes(1)
            strongLoader.queue.sync {}
        }
        bed.settle()
        #expect(delegate == nil)
        #expect(loader == nil)
        #expect(load == nil)
        bed.expectNothingLeft()
    }

    @Test func `a service reaches the loads of a loader whose factory is gone`() async {
        let bed = TestBed(otherwise: .hold)
        let delegate = RecordingDelegate()
        let loader = bed.service.makeFactory().makeDataLoader(delegate: delegate)
        loader.perform(.make())
        bed.service.cancelAllLoads()
        guard case .cancelled? = await delegate.outcomes(1).first else {
            Issue.record("the load was not cancelled")
            return
        }
        loader.perform(.make())
        await bed.service.reset()
        #expect(await delegate.outcomes(2).last?.response?.error == .reset)
    }

    // The shared service is made once in a process, so this runs in a process of its own.
    @Test func `the shared service is configured once, before it is used`() async {
        await #expect(processExitsWith: .success) {
            var configuration = DataLoaderService.Configuration()
            configuration.userAgent = "first"
            try DataLoaderService.bootstrap(configuration)
            #expect(throws: DataLoaderError.bootstrapTwice) {
                try DataLoaderService.bootstrap(configuration)
            }
            #expect(DataLoaderService.shared.runtime.attempts.userAgent == "first")
            #expect(DataLoaderService.shared === DataLoaderService.shared)
            #expect(throws: DataLoaderError.bootstrapAfterUse) {
                try DataLoaderService.bootstrap(configuration)
            }
        }
        await #expect(processExitsWith: .success) {
            _ = DataLoaderService.shared
            #expect(throws: DataLoaderError.bootstrapAfterUse) {
                try DataLoaderService.bootstrap(DataLoaderService.Configuration())
            }
        }
    }
}

/// A transport whose attempts end inside the call that cancels them.
private final class PromptTransport: Transport {
    let starts = Locked(0)

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        starts.withLock { $0 += 1 }
        return Attempt(sink)
    }

    func reset() async {}

    func shutDown() async {}

    private final class Attempt: TransportTask {
        private let sink: Locked<(any TransportSink)?>

        init(_ sink: any TransportSink) {
            self.sink = Locked(sink)
        }

        func cancel() {
            sink.withLock { $0.take() }?.didFail(TransportFailure(.cancelled, sent: .written))
        }

        func pause() {}

        func resume() {}
    }
}

/// Performs a load for each that ends.
private final class EndlessDelegate: DataLoaderDelegate {
    let outcomes = EventRecorder<Void>()
    let stops = Locked(false)

    private func next(_ loader: DataLoader) {
        outcomes.record(())
        if !stops.withLock({ $0 }) { loader.perform(.make()) }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) { next(dataLoader) }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) { next(dataLoader) }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
        next(dataLoader)
    }
}
