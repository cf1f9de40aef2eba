// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// A slow observer uses a bounded amount of memory.
@Suite struct SlowObserverTests {
    @Test func `no response or request body waits in an observer's queue`() async {
        let freed = EventRecorder<Void>()
        let answer = ScriptedAnswer.run { attempt in
            attempt.respond(status: 200, body: .telling(freed))
        }
        let bed = TestBed(otherwise: answer)
        let observer = RecordingObserver()
        let queue = DispatchQueue(label: "slow")
        bed.service.addConsumptionObserver(observer, on: queue)
        queue.suspend()
        for _ in 0..<200 {
            _ = try? await bed.loader.response(
                for: .make {
                    $0.method = .put
                    $0.body = .data(.telling(freed))
                })
        }
        // The test's transport keeps request bodies and releases response bodies.
        _ = await freed.first(200)
        queue.resume()
        let entries = await observer.entries(200)
        #expect(entries.allSatisfy { $0.response.body == nil })
        #expect(entries.allSatisfy { $0.response.request.body == nil })
        #expect(entries.allSatisfy { $0.bytesDownloaded == 100_000 })
    }

    @Test func `more than 4,096 waiting notices drop the oldest and are counted`() async {
        let observers = ObserverList()
        let observer = RecordingObserver()
        let queue = DispatchQueue(label: "slow")
        observers.add(observer, on: queue)
        queue.suspend()
        for number in 0..<5_000 {
            observers.notify { DataLoaderResponse(request: .make("/\(number)")) }
        }
        #expect(observers.droppedNotices == 904)
        queue.resume()
        let paths = await observer.entries(4_096).map(\.response.request.url.path)
        #expect(paths == (904..<5_000).map { "/\($0)" })
        observers.notify { DataLoaderResponse(request: .make("/late")) }
        let last = await observer.entries(4_097).last
        #expect(last?.response.request.url.path == "/late")
        #expect(observers.droppedNotices == 904)
    }

    @Test func `an inline observer hears of every load at once, however slow others are`() {
        let observers = ObserverList()
        let (inline, slow) = (CountingObserver(), RecordingObserver())
        let queue = DispatchQueue(label: "slow")
        observers.add(slow, on: queue)
        observers.addInline(inline)
        queue.suspend()
        defer { queue.resume() }
        for number in 1...5_000 {
            observers.notify { DataLoaderResponse(request: .make("/")) }
            #expect(inline.count == number)
        }
        #expect(observers.droppedNotices == 904)
    }

    @Test func `an observer that is gone is forgotten with the next load that ends`() {
        let observers = ObserverList()
        let queue = DispatchQueue(label: "observing")
        do {
            let observer = RecordingObserver()
            observers.add(observer, on: queue)
            withExtendedLifetime(observer) {}
        }
        let other = RecordingObserver()
        observers.add(other, on: DispatchQueue(label: "other"))
        do {
            let observer = RecordingObserver()
            observers.add(observer, on: queue)
            withExtendedLifetime(observer) {}
        }
        observers.notify { DataLoaderResponse(request: .make()) }
        queue.sync {}
        #expect(observers.count == 1)
        withExtendedLifetime(other) {}
    }

    @Test func `a service reports how many notices were dropped`() {
        let bed = TestBed()
        #expect(bed.service.droppedConsumptionNotices == 0)
    }

    /// Blocks in its first call until the test releases it.
    private final class BlockingObserver: ConsumptionObserver {
        let calls = EventRecorder<String>()
        let isCalled = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)

        func endedRequest(
            with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
        ) {
            calls.record(response.request.url.path)
            isCalled.signal()
            mayGoOn.wait()
            mayGoOn.signal()
        }

        /// The calls while the observer blocks and 8,192 more loads end.
        func callsWhileBlocked(_ observers: ObserverList) -> [String] {
            observers.notify { DataLoaderResponse(request: .make("/0")) }
            isCalled.wait()
            for number in 1...8_192 {
                observers.notify { DataLoaderResponse(request: .make("/\(number)")) }
            }
            defer { mayGoOn.signal() }
            return calls.elements
        }
    }

    @Test func `a blocking observer keeps 4,096 notices waiting and is called once at a time`()
        async
    {
        let observers = ObserverList()
        let observer = BlockingObserver()
        observers.add(observer, on: DispatchQueue(label: "blocked", attributes: .concurrent))
        #expect(observer.callsWhileBlocked(observers) == ["/0"])
        #expect(observers.droppedNotices == 4_096)
        let calls = await observer.calls.first(4_097)
        #expect(calls == ["/0"] + (4_097...8_192).map { "/\($0)" })
    }
}

private final class CountingObserver: ConsumptionObserver {
    private let state = Locked(0)

    var count: Int { state.withLock { $0 } }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        state.add(1)
    }
}
