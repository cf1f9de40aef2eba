// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

private typealias ResponseProbe = Probe<DataLoaderResponse, DataLoaderError>
private typealias ChunkProbe = Probe<Data, DataLoaderError>

@Suite(.timeLimit(.minutes(5))) struct PublisherCancellationTests {
    /// What ends loads besides their subscribers.
    enum Ender: CaseIterable, Sendable {
        case loader, droppedLoader, factoryReset, serviceReset, invalidation, shutDown

        var error: DataLoaderError {
            switch self {
            case .factoryReset, .serviceReset: .reset
            default: .cancelled
            }
        }

        func end(_ bed: TestBed, _ loader: inout DataLoader?) async {
            switch self {
            case .loader: loader?.cancelAllLoads()
            case .droppedLoader: loader = nil
            case .factoryReset: await bed.factory.reset()
            case .serviceReset: await bed.service.reset()
            case .invalidation: bed.service.invalidateAndCancel()
            case .shutDown: await bed.service.shutDown(gracePeriod: .zero)
            }
        }
    }

    @Test(arguments: Ender.allCases)
    func `a load that the library ends fails its subscriber once`(ender: Ender) async {
        let bed = TestBed()
        var loader: DataLoader? = bed.factory.makeDataLoader()
        let probes = (0..<2).map { _ in ResponseProbe() }
        let results = Probe<Result<DataLoaderResponse, DataLoaderError>, Never>()
        let unstarted = ResponseProbe(demand: .none)
        loader?.publisher(for: .make()).subscribe(probes[0])
        loader?.publisher(for: .make()).map { $0 }.subscribe(probes[1])
        loader?.publisher(for: .make()).results.subscribe(results)
        loader?.publisher(for: .make()).subscribe(unstarted)
        _ = await bed.attempt(2)
        await ender.end(bed, &loader)
        for probe in probes {
            let events = await probe.completed()
            #expect(events.count == 1)
            #expect(events.first?.error == ender.error)
        }
        let events = await results.completed()
        #expect(events.count == 2)
        #expect(throws: ender.error) { try events.first?.value?.get() }
        #expect(unstarted.events.isEmpty)
        bed.expectNothingLeft()
    }

    // Two pieces are unread, and the transfer is paused.
    @Test(arguments: Ender.allCases)
    func `a body that the library ends fails its subscriber once, whatever it demands`(
        ender: Ender
    ) async {
        let bed = TestBed()
        var loader: DataLoader? = bed.factory.makeDataLoader()
        let probe = ChunkProbe(demand: .max(1))
        loader?.chunkPublisher(for: .make()).subscribe(probe)
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(1_000))
        _ = await probe.events(1)
        for _ in 0..<2 { attempt.send(patternBytes(ChunkWindow.size)) }
        await ender.end(bed, &loader)
        let events = await probe.completed()
        #expect(events.count == 2)
        #expect(events.last?.error == ender.error)
        bed.expectNothingLeft()
        #expect(attempt.isCancelled)
    }

    @Test func `a reset returns after its subscribers were told`() async {
        let bed = TestBed()
        let whole = ResponseProbe()
        let chunks = ChunkProbe(demand: .max(1))
        bed.loader.publisher(for: .make()).subscribe(whole)
        bed.loader.chunkPublisher(for: .make()).subscribe(chunks)
        _ = await bed.attempt(1)
        await bed.factory.reset()
        #expect(whole.events.last?.error == .reset)
        #expect(chunks.events.last?.error == .reset)
    }

    @Test func `a subscription that is cancelled before its demand loads nothing`() {
        let bed = TestBed()
        let probe = ResponseProbe(demand: .none)
        let chunks = ChunkProbe(demand: .none)
        bed.loader.publisher(for: .make()).subscribe(probe)
        bed.loader.chunkPublisher(for: .make()).subscribe(chunks)
        probe.cancel()
        chunks.cancel()
        probe.request(.unlimited)
        chunks.request(.unlimited)
        bed.expectNothingLeft()
        #expect(bed.transport.attempts.isEmpty)
        #expect(probe.events.isEmpty)
        #expect(chunks.events.isEmpty)
    }

    @Test func `a subscription that is cancelled ends its load and receives nothing`() async {
        let bed = TestBed()
        let probe = ResponseProbe()
        let chunks = ChunkProbe()
        bed.loader.publisher(for: .make("/whole")).subscribe(probe)
        let whole = await bed.attempt(0)
        bed.loader.chunkPublisher(for: .make("/chunks")).subscribe(chunks)
        let streamed = await bed.attempt(1)
        probe.cancel()
        probe.cancel()
        chunks.cancel()
        chunks.cancel()
        await whole.waitUntilCancelled()
        await streamed.waitUntilCancelled()
        bed.expectNothingLeft()
        #expect(probe.events.isEmpty)
        #expect(chunks.events.isEmpty)
    }

    // A sink that is released cancels, and so does `first()` when it has its value.
    @Test func `a subscriber may cancel inside of the call with its value`() async {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("body".utf8)))
        let probe = ResponseProbe { probe, _ in
            probe.cancel()
            probe.request(.max(1))
            return .unlimited
        }
        bed.loader.publisher(for: .make()).subscribe(probe)
        _ = await probe.events(1)
        let chunks = ChunkProbe { probe, _ in
            probe.cancel()
            probe.request(.max(1))
            return .unlimited
        }
        bed.loader.chunkPublisher(for: .make()).subscribe(chunks)
        _ = await chunks.events(1)
        bed.expectNothingLeft()
        #expect(probe.events.count == 1)
        #expect(chunks.events.count == 1)
    }

    // A lock that is held during the call would stop the first of these for ever.
    @Test func `a subscriber may use the loader and the service inside of its calls`() async {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("body".utf8)))
        let probe = ResponseProbe { [bed] probe, _ in
            bed.loader.cancelAllLoads()
            _ = bed.loader.currentRequests
            bed.service.cancelAllLoads()
            bed.service.invalidateAndCancel()
            probe.request(.max(1))
            return .none
        }
        bed.loader.publisher(for: .make()).subscribe(probe)
        #expect(await probe.completed().count == 2)
        bed.expectNothingLeft()
    }

    @Test func `a switched pipeline cancels the loads that it no longer needs`() async {
        let bed = TestBed()
        let paths = PassthroughSubject<String, Never>()
        let values = EventRecorder<String>()
        let subscription =
            paths
            .map { bed.loader.publisher(for: .make($0)).results }
            .switchToLatest()
            .sink { values.record((try? $0.get())?.request.url.path ?? "failed") }
        paths.send("/first")
        let first = await bed.attempt(0)
        paths.send("/second")
        await first.waitUntilCancelled()
        await bed.attempt(1).respond(status: 200)
        _ = await values.first(1)
        subscription.cancel()
        bed.expectNothingLeft()
        #expect(values.elements == ["/second"])
    }
}
