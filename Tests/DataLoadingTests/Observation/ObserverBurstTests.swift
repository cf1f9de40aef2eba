// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// The first report after a quiet time comes at once, those of a burst together.
@Suite struct ObserverBurstTests {
    private let observer = RecordingObserver()
    private let report = DataLoaderResponse(request: .make())
    private let now = DispatchTime.now()

    private func makeEntry() -> ObserverEntry {
        ObserverEntry(observer, on: DispatchQueue(label: "observing")) { [now] in now }
    }

    /// An entry whose observer has just had a report.
    private func makeBusyEntry() throws -> ObserverEntry {
        let entry = makeEntry()
        let first = try #require(entry.add(report).0)
        #expect(first.instant == nil)
        #expect(entry.begins(first.number))
        #expect(entry.next() != nil)
        #expect(entry.next() == nil)
        return entry
    }

    @Test func `reports that follow within 10 ms are delivered by one block`() throws {
        let entry = try makeBusyEntry()
        let second = try #require(entry.add(report).0)
        #expect(second.instant == now + .milliseconds(10))
        for _ in 0..<100 { #expect(entry.add(report).0 == nil) }
        #expect(entry.begins(second.number))
        for _ in 0..<101 { #expect(entry.next() != nil) }
        #expect(entry.next() == nil)
    }

    @Test func `a fourth of the reports that may wait are not delayed`() throws {
        let entry = try makeBusyEntry()
        let delayed = try #require(entry.add(report).0)
        for _ in 2..<1_024 { #expect(entry.add(report).0 == nil) }
        let urgent = try #require(entry.add(report).0)
        #expect(urgent.instant == nil)
        // The block that was due later has nothing left to do, whichever comes first.
        #expect(!entry.begins(delayed.number))
        #expect(entry.begins(urgent.number))
        #expect(entry.add(report).0 == nil)
    }

    @Test func `after a flush no report is delayed`() throws {
        let entry = try makeBusyEntry()
        let delayed = try #require(entry.add(report).0)
        let urgent = try #require(entry.flush())
        #expect(urgent.instant == nil && urgent.number != delayed.number)
        #expect(entry.begins(urgent.number))
        #expect(entry.next() != nil)
        #expect(entry.next() == nil)
        #expect(entry.add(report).0?.instant == nil)
        #expect(entry.flush() == nil)
    }

    @Test func `after a flush every report is delivered before what is put on the queue then`()
        async
    {
        let observers = ObserverList()
        let queue = DispatchQueue(label: "observing")
        observers.add(observer, on: queue)
        queue.suspend()
        for _ in 0..<300 { observers.notify { report } }
        observers.flush()
        let told = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.observer.entries.count) }
            queue.resume()
        }
        #expect(told == 300)
    }

    @Test func `every report of a burst arrives, in order`() async {
        let observers = ObserverList()
        observers.add(observer, on: DispatchQueue(label: "observing"))
        for number in 0..<300 {
            observers.notify { DataLoaderResponse(request: .make("/\(number)")) }
            if number % 50 == 0 { _ = await observer.entries(number + 1) }
        }
        let paths = await observer.entries(300).map(\.response.request.url.path)
        #expect(paths == (0..<300).map { "/\($0)" })
    }

    @Test func `all reports are on the observer's queue when a shut-down returns`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let queue = DispatchQueue(label: "observing")
        bed.service.addConsumptionObserver(observer, on: queue)
        for _ in 0..<20 { _ = try? await bed.loader.response(for: .make()) }
        await bed.service.shutDown(gracePeriod: .seconds(1))
        await withCheckedContinuation { done in queue.async { done.resume() } }
        #expect(observer.entries.count == 20)
    }
}
