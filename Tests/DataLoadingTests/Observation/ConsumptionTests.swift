// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// Observers are told the bytes up and down of each ended load, including heads.
@Suite struct ConsumptionTests {
    private static func report(_ size: Int64) -> TransportReport {
        var report = TransportReport()
        report.headBytesSent = size
        report.bodyBytesSent = size * 10
        report.headBytesReceived = size * 100
        report.bodyBytesReceived = size * 1_000
        return report
    }

    @Test func `an observer is told the bytes of all attempts, including failed ones`() async {
        let bed = TestBed(
            [
                .run { attempt in
                    attempt.setReport(Self.report(1))
                    attempt.fail(.connectionReset, sent: .written)
                },
                .run { attempt in
                    attempt.setReport(Self.report(2))
                    attempt.give(.respond(status: 302, headers: ["Location": "/b"]))
                },
                .run { attempt in
                    attempt.setReport(Self.report(3))
                    attempt.give(.respond(status: 200))
                },
            ])
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        let entry = await bed.observer.entries(1)[0]
        #expect(entry.bytesUploaded == 66)
        #expect(entry.bytesDownloaded == 6_600)
        #expect(entry.response.metrics.attempts == 3)
        #expect(entry.response.metrics.retries == 1)
    }

    @Test func `an observer is told the bytes of a cancelled load until its socket closed`() async {
        let bed = TestBed()
        let token = bed.loader.perform(.make())
        let attempt = await bed.attempt(0)
        attempt.setReport(Self.report(5))
        token.cancel()
        let entry = await bed.observer.entries(1)[0]
        #expect(entry.response.error == .cancelled)
        #expect(entry.bytesDownloaded == 5_500)
        bed.settle()
        #expect(bed.observer.entries.count == 1)
    }

    @Test func `an observer is told of a load when its last socket has closed, and not before`()
        async
    {
        let transport = ManualTransport()
        defer { transport.letGo() }
        let bed = TestBed { $0.transport = transport }
        let token = bed.loader.perform(.make())
        let attempt = await transport.attempts.first(1)[0]
        token.cancel()
        bed.settle()
        #expect(bed.delegate.events.count == 1)
        #expect(bed.observer.entries.isEmpty)
        #expect(bed.service.runtime.liveLoads.live == 1)
        #expect(bed.service.runtime.admission.load == (0, 1))
        attempt.sink.didFail(
            TransportFailure(.cancelled, sent: .written, report: Self.report(7)))
        attempt.sink.didEnd(Self.report(9))
        bed.settle()
        #expect(bed.observer.entries.map(\.bytesDownloaded) == [7_700])
        bed.expectNothingLeft()
    }

    @Test func `byte counts saturate and never wrap`() async {
        var report = TransportReport()
        report.headBytesReceived = .max
        report.bodyBytesReceived = .max
        report.bodyBytesSent = 5_000_000_000
        let bed = TestBed([
            .run { [report] attempt in
                attempt.setReport(report)
                attempt.give(.respond(status: 200))
            }
        ])
        bed.loader.perform(.make())
        let entry = await bed.observer.entries(1)[0]
        #expect(entry.bytesDownloaded == .max)
        #expect(entry.bytesUploaded == 5_000_000_000)
    }

    @Test func `an observer is told of loads that never reached a transport`() async {
        let bed = TestBed()
        bed.loader.perform(DataLoaderRequest(url: testURL("file:///")))
        let entry = await bed.observer.entries(1)[0]
        #expect(entry.response.error == .invalidRequest(.scheme))
        #expect(entry.bytesUploaded == 0)
        #expect(entry.response.metrics.attempts == 0)
    }

    @Test func `an observer is told of awaited loads and of loads in chunks`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: patternBytes(10)))
        _ = try await bed.loader.response(for: .make())
        for try await _ in bed.loader.chunks(for: .make()) {}
        bed.loader.perform(.make { $0.chunks = true })
        let entries = await bed.observer.entries(3)
        #expect(entries.map(\.bytesDownloaded) == [10, 10, 10])
    }

    @Test func `an observer is called after the delegate, on its own queue`() {
        let order = EventRecorder<String>()
        let delegate = RecordingDelegate(onEvent: { _ in order.record("delegate") })
        let bed = TestBed(otherwise: .respond(status: 200), delegate: delegate)
        let queue = DispatchQueue(label: "observing")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let observer = CallingObserver {
            order.record(DispatchQueue.getSpecific(key: key) == true ? "observer" : "elsewhere")
        }
        bed.service.addConsumptionObserver(observer, on: queue)
        for _ in 0..<20 { bed.loader.perform(.make()) }
        bed.settle()
        queue.sync {}
        let heard = order.elements
        #expect(heard.count == 40)
        #expect(!heard.contains("elsewhere"))
        for index in heard.indices {
            let calls = heard[...index]
            #expect(calls.count { $0 == "observer" } <= calls.count { $0 == "delegate" })
        }
        withExtendedLifetime(observer) {}
    }

    @Test func `a service holds observers weakly and once, and forgets removed ones`() {
        let bed = TestBed(otherwise: .respond(status: 200))
        let queue = DispatchQueue(label: "observing")
        let removed = RecordingObserver()
        let twice = RecordingObserver()
        weak var gone: RecordingObserver?
        do {
            let observer = RecordingObserver()
            gone = observer
            bed.service.addConsumptionObserver(observer, on: queue)
        }
        #expect(gone == nil)
        bed.service.addConsumptionObserver(removed, on: queue)
        bed.service.addConsumptionObserver(twice, on: queue)
        bed.service.addConsumptionObserver(twice, on: queue)
        bed.service.removeConsumptionObserver(removed)
        bed.service.removeConsumptionObserver(removed)
        bed.loader.perform(.make())
        bed.settle()
        queue.sync {}
        #expect(removed.entries.isEmpty)
        #expect(twice.entries.count == 1)
    }

    @Test func `an observer may perform, cancel and remove itself when it is called`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let heard = EventRecorder<Void>()
        let box = Locked<CallingObserver?>(nil)
        let observer = CallingObserver {
            heard.record(())
            guard heard.elements.count == 1 else { return }
            bed.loader.perform(.make("/from-inside"))
            bed.loader.perform(.make("/and-cancelled")).cancel()
            if let observer = box.withLock({ $0 }), heard.elements.count > 5 {
                bed.service.removeConsumptionObserver(observer)
            }
        }
        box.withLock { $0 = observer }
        bed.service.addConsumptionObserver(observer, on: DispatchQueue(label: "observing"))
        bed.loader.perform(.make())
        #expect(await heard.first(3).count == 3)
        box.withLock { $0 = nil }
    }

    @Test func `metrics report how long the parts of a load took`() async {
        let bed = TestBed {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 0.5)
        }
        bed.loader.perform(.make())
        bed.loader.perform(.make())
        bed.advance(.seconds(2))
        bed.advance(ms(300))
        await bed.attempt(1).respond(status: 200)
        let metrics = await bed.observer.entries(1)[0].response.metrics
        #expect(metrics.admissionTime == .seconds(2))
        #expect(metrics.totalTime == ms(2_300))
        #expect(metrics.attempts == 1)
    }

    @Test func `metrics keep thirty-two addresses at most`() {
        var metrics = LoadMetrics()
        for index in 0..<100 { metrics.note("10.0.0.\(index)") }
        metrics.note("10.0.0.1")
        #expect(metrics.addresses.count == 32)
    }
}

/// An observer that calls a closure.
private final class CallingObserver: ConsumptionObserver {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        body()
    }
}
