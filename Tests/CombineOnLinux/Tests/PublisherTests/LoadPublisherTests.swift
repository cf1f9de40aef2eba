// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

private typealias ResponseProbe = Probe<DataLoaderResponse, DataLoaderError>

@Suite(.timeLimit(.minutes(5))) struct LoadPublisherTests {
    @Test(arguments: [200, 304, 404, 503])
    func `a publisher publishes a response of any status, and finishes`(status: Int) async {
        let bed = TestBed([.respond(status: status, body: Data("body".utf8))])
        let probe = ResponseProbe()
        bed.loader.publisher(for: .make()).subscribe(probe)
        let events = await probe.completed()
        #expect(events.count == 2)
        #expect(events.first?.value?.statusCode?.rawValue == status)
        #expect(events.first?.value?.body == Data("body".utf8))
        #expect(events.last?.isFinished == true)
        bed.expectNothingLeft()
        #expect(probe.events.count == 2)
    }

    @Test func `a publisher fails once when there is no whole response`() async {
        let bed = TestBed([.fail(.connectionReset, sent: .written)])
        let probe = ResponseProbe()
        bed.loader.publisher(for: .make()).subscribe(probe)
        let events = await probe.completed()
        #expect(events.count == 1)
        #expect(events.first?.error == .connectionReset)
        #expect(events.first?.error?.context != nil)
        bed.expectNothingLeft()
        #expect(probe.events.count == 1)
    }

    @Test func `a publisher of results publishes an error as a value, and finishes`() async {
        let bed = TestBed([.fail(.connectionReset, sent: .written), .respond(status: 204)])
        for expected in [nil, HTTPStatus.noContent] {
            let probe = Probe<Result<DataLoaderResponse, DataLoaderError>, Never>()
            bed.loader.publisher(for: .make()).results.subscribe(probe)
            let events = await probe.completed()
            #expect(events.count == 2)
            #expect((try? events.first?.value?.get())?.statusCode == expected)
            #expect(events.last?.isFinished == true)
        }
        bed.expectNothingLeft()
    }

    @Test func `a publisher loads nothing before its subscriber demands a value`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let publisher = bed.loader.publisher(for: .make())
        let probe = ResponseProbe(demand: .none)
        publisher.subscribe(probe)
        probe.request(.none)
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
        #expect(bed.loader.currentRequests.isEmpty)
        probe.request(.max(1))
        #expect(await probe.completed().count == 2)
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a further demand loads nothing, before and after the value`() async {
        let bed = TestBed()
        let probe = ResponseProbe(demand: .max(1)) { probe, _ in
            probe.request(.unlimited)
            return .max(3)
        }
        bed.loader.publisher(for: .make()).subscribe(probe)
        probe.request(.unlimited)
        let attempt = await bed.attempt(0)
        probe.request(.max(2))
        attempt.respond(status: 200)
        #expect(await probe.completed().count == 2)
        probe.request(.max(1))
        bed.expectNothingLeft()
        #expect(bed.transport.attempts.count == 1)
        #expect(probe.events.count == 2)
    }

    @Test func `each subscriber of a publisher gets a load of its own`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let publisher = bed.loader.publisher(for: .make())
        let probes = (0..<3).map { _ in ResponseProbe() }
        for probe in probes { publisher.subscribe(probe) }
        var loads: Set<Int64> = []
        for probe in probes {
            let response = await probe.completed().first?.value
            loads.insert(response?.metrics.load ?? 0)
        }
        #expect(loads.count == 3)
        #expect(bed.transport.attempts.count == 3)
    }

    @Test func `a retry operator loads again`() async {
        let bed = TestBed([.fail(.connectionReset, sent: .written), .respond(status: 200)])
        let probe = ResponseProbe()
        bed.loader.publisher(for: .make()).retry(1).subscribe(probe)
        #expect(await probe.completed().first?.value?.statusCode == .ok)
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `a value comes on the delegate queue unless the caller moves it`() async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "owner")
        queue.setSpecific(key: key, value: true)
        let bed = TestBed(otherwise: .respond(status: 200), delegateQueue: queue)
        let isOnQueue = EventRecorder<Bool>()
        let probe = ResponseProbe { _, _ in
            isOnQueue.record(DispatchQueue.getSpecific(key: key) == true)
            return .none
        }
        bed.loader.publisher(for: .make()).subscribe(probe)
        _ = await probe.completed()
        #expect(isOnQueue.elements == [true])

        let scheduler = VirtualScheduler()
        let moved = ResponseProbe()
        bed.loader.publisher(for: .make()).receive(on: scheduler).subscribe(moved)
        await eventually { scheduler.waiting == 2 }
        #expect(moved.events.isEmpty)
        scheduler.advance(by: 0)
        #expect(moved.events.count == 2)
    }

    @Test func `a publisher retains neither its loader nor a subscriber that has its end`() async {
        let gone = EventRecorder<Void>()
        let bed = TestBed(otherwise: .respond(status: 200))
        do {
            let probe = ResponseProbe { [canary = Canary(gone)] _, _ in
                _ = canary
                return .none
            }
            bed.loader.publisher(for: .make()).subscribe(probe)
            _ = await probe.completed()
        }
        _ = await gone.first(1)
        weak var loader: DataLoader?
        let publisher: LoadPublisher<DataLoaderResponse, DataLoaderError>
        do {
            let owned = bed.factory.makeDataLoader()
            loader = owned
            publisher = owned.publisher(for: .make())
        }
        #expect(loader == nil)
        let late = ResponseProbe()
        publisher.subscribe(late)
        let events = await late.completed()
        #expect(events.count == 1)
        #expect(events.first?.error == .cancelled)
    }

    @Test func `a publisher loads whole bodies whatever the request says about chunks`() async {
        let bed = TestBed([.respond(status: 200, body: patternBytes(300_000))])
        let probe = ResponseProbe()
        bed.loader.publisher(for: .make { $0.chunks = true }).subscribe(probe)
        #expect(await probe.completed().first?.value?.body == patternBytes(300_000))
    }
}
