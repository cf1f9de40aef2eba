// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// A simulated day of loads: 100,000, as many as `VIRTUAL_LOADS` says, or ten million with
/// `DATALOADING_SOAK=1`.
// 5 % faults, 200 origins, 24 h.
@Suite struct VirtualSoakTests {
    private static let loads: Int = {
        let environment = ProcessInfo.processInfo.environment
        if environment["DATALOADING_SOAK"] == "1" { return 10_000_000 }
        return environment["VIRTUAL_LOADS"].flatMap { Int($0) } ?? 100_000
    }()

    @Test func `a day of loads ends each load once and leaves nothing behind`() {
        let loads = Self.loads
        let batch = 250
        let transport = SoakTransport()
        let clock = ManualClock()
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.retry.maximumRetryCount = 2
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let delegate = SoakDelegate()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate, delivery: .ofTests)
        let step = Duration.seconds(86_400) / (loads / batch)
        var generator = SeededGenerator(seed: 20_260_101)
        let urls = (0..<200).map { testURL("http://host\($0).test/path") }
        var performed = 0
        while performed < loads {
            for _ in 0..<batch {
                let token = loader.perform(
                    DataLoaderRequest(url: urls.randomElement(using: &generator) ?? urls[0]))
                if Int.random(in: 0..<100, using: &generator) == 0 { token.cancel() }
            }
            performed += batch
            Self.answer(transport, service, &generator)
            clock.advance(by: step)
            loader.queue.sync {}
        }
        // The last loads pause or wait behind a gate of at most a minute.
        while service.runtime.liveLoads.live > 0, clock.elapsed < .seconds(90_000) {
            Self.answer(transport, service, &generator)
            clock.advance(by: .seconds(5))
            loader.queue.sync {}
        }
        let counts = delegate.counts
        #expect(counts.all == loads)
        #expect(counts.late == 0)
        #expect(counts.successes > loads * 9 / 10)
        #expect(counts.errors > 0 && counts.cancellations > 0)
        let runtime = service.runtime
        #expect(runtime.liveLoads.live == 0)
        #expect(runtime.admission.isIdle && runtime.admission.load == (0, 0))
        #expect(runtime.timerQueue.count == 0)
        #expect(loader.currentRequests.isEmpty)
        #expect(runtime.originHealth.busyOrigins <= 200)
    }

    /// Answers all running attempts and those that start because of it, 1 in 20 with a fault.
    private static func answer(
        _ transport: SoakTransport, _ service: DataLoaderService,
        _ generator: inout SeededGenerator
    ) {
        while true {
            var attempts = transport.takeStarted()
            var before = (waiting: -1, running: -1)
            while attempts.isEmpty, service.runtime.admission.load != before {
                // Loads that skip an attempt make room for others on this queue, one by one.
                before = service.runtime.admission.load
                service.drainQueues()
                attempts = transport.takeStarted()
            }
            if attempts.isEmpty { return }
            for attempt in attempts {
                guard let sink = attempt.take() else { continue }
                switch Int.random(in: 0..<100, using: &generator) {
                case 0: sink.didFail(TransportFailure(.connectRefused, sent: .nothingWritten))
                case 1: sink.didFail(TransportFailure(.connectionReset, sent: .written))
                case 2: respond(sink, 503, ["Retry-After": "2"])
                case 3: respond(sink, 302, ["Location": "http://host1.test/moved"])
                case 4: respond(sink, 404)
                default: respond(sink, 200)
                }
            }
        }
    }

    private static func respond(
        _ sink: any TransportSink, _ status: Int, _ headers: HTTPHeaders = [:]
    ) {
        sink.didReceive(
            DataLoading.ResponseHead(status: HTTPStatus(rawValue: status), headers: headers))
        sink.didEnd(TransportReport())
    }
}
