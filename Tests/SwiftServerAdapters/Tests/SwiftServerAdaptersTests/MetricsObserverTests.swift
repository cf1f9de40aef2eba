// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Metrics
import MetricsTestKit
@testable import SwiftServerAdapters
import Testing

@Suite(.timeLimit(.minutes(1))) struct MetricsObserverTests {
    private let metrics = TestMetrics()

    private func observer() -> MetricsObserver {
        MetricsObserver(hosts: ["api.test"], sources: ["feed"], factory: metrics)
    }

    /// Records what a service does with its loads.
    private func observe(
        _ answers: ScriptedAnswer..., of body: (AdapterBed) async -> Void
    ) async {
        let observer = observer()
        let bed = AdapterBed(answers)
        bed.service.addConsumptionObserver(observer, on: bed.queue)
        await body(bed)
        await bed.end()
        withExtendedLifetime(observer) {}
    }

    /// How many loads ended with an outcome and a reason.
    private func loads(_ outcome: String, _ reason: String, source: String = "feed") -> Int {
        let labels = [
            ("dataloading.source", source), ("dataloading.outcome", outcome),
            ("error.type", reason),
        ]
        let timers = metrics.timers(label: "dataloading.load.duration", dimensions: labels)
        return timers.reduce(0) { $0 + $1.values.count }
    }

    private func count(_ name: String, _ direction: String? = nil) -> Int64 {
        let isMeant = { (counter: TestCounter) in
            let labels = counter.dimensions.map(\.1)
            return labels.first == "api.test" && (direction.map(labels.contains) ?? true)
        }
        return metrics.counters.reduce(0) { sum, counter in
            counter.label == name && isMeant(counter) ? sum + counter.totalValue : sum
        }
    }

    @Test func `each outcome of a load is counted with its reason`() async {
        await observe(.respond(status: 200), .fail(.tls), .respond(status: 503)) { bed in
            #expect(await bed.error(of: .make()) == nil)
            #expect(await bed.error(of: .make()) == .tls)
            _ = await bed.error(of: .make())
            await bed.cancel(.make())
        }
        #expect(loads("success", "none") == 1)
        #expect(loads("failure", "tls") == 1)
        #expect(loads("failure", "5xx") == 1)
        #expect(loads("cancelled", "none") == 1)
        #expect(metrics.timers(label: "dataloading.load.duration").count == 4)
    }

    @Test func `bytes, retries and waits are counted for a host`() async {
        let body = Data(repeating: 1, count: 1_000)
        await observe(.fail(.connectRefused), .respond(status: 200, body: body)) { bed in
            var request = DataLoaderRequest.make()
            request.maximumRetryCount = 1
            #expect(await bed.error(of: request) == nil)
        }
        #expect(count("dataloading.retries") == 1)
        #expect(count("dataloading.network.io", "receive") == 1_000)
        let waits = metrics.timers(label: "dataloading.load.wait.duration")
        let backOff = waits.first { $0.dimensions.map(\.1) == ["api.test", "backoff"] }
        #expect(waits.count == 3)
        #expect((backOff?.lastValue ?? 0) > 0)
    }

    @Test func `a host is the same in capitals`() async {
        await observe(.respond(status: 200, body: Data([1]))) { bed in
            #expect(await bed.error(of: .make(host: "API.test")) == nil)
        }
        #expect(count("dataloading.network.io", "receive") == 1)
    }

    @Test func `hosts, sources and statuses that others choose make no series`() async {
        await observe { bed in
            for index in 0..<50 {
                bed.transport.then(
                    .respond(
                        status: 302, headers: ["Location": "https://h\(index).test/\(index)"]))
                bed.transport.then(.respond(status: 600 + index))
                let request = DataLoaderRequest.make(
                    "/\(index)", host: "h\(index).test", source: "s\(index)")
                _ = await bed.error(of: request)
            }
        }
        #expect(loads("failure", "_OTHER", source: "_OTHER") == 50)
        #expect(metrics.timers.count == 4)
        #expect(metrics.counters.count == 3)
        #expect(metrics.counters.allSatisfy { $0.dimensions.first?.1 == "_OTHER" })
    }

    @Test func `a snapshot sets meters, and sets them to zero when nothing waits any more`()
        async throws
    {
        let observer = observer()
        let bed = AdapterBed(configuring: { configuration in
            configuration.limits.perOrigin = 1
            configuration.resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "api.test")
        })
        try bed.service.rateLimiter.setRetryAfter(
            .seconds(60), for: DataLoaderRequest.make(host: "closed.test").url)
        let delegate = RecordingDelegate()
        let loader = bed.service.makeFactory().makeDataLoader(delegate: delegate)
        loader.perform(.make("/a"))
        let attempt = await bed.transport.attempts(1)[0]
        loader.perform(.make("/b"))
        observer.record(bed.service.snapshot())
        let labels = [("server.address", "api.test")]
        let waiting = try metrics.expectMeter("dataloading.queue.size", labels)
        let running = try metrics.expectMeter("http.client.active_requests", labels)
        let gate = try metrics.expectMeter(
            "dataloading.gate.remaining", [("server.address", "_OTHER")])
        #expect(waiting.lastValue == 1)
        #expect(running.lastValue == 1)
        #expect((30...60).contains(gate.lastValue ?? 0))
        attempt.respond(status: 200)
        await bed.transport.attempts(2)[1].respond(status: 200)
        _ = await delegate.outcomes(2)
        await bed.end()
        observer.record(bed.service.snapshot())
        #expect(waiting.values == [1, 0])
        #expect(running.values == [1, 0])
        let address = [("server.address", "api.test"), ("network.peer.address", "10.0.0.1")]
        #expect(try metrics.expectMeter("dataloading.address.available", address).lastValue == 1)
        #expect(try metrics.expectMeter("dataloading.observer.dropped").lastValue == 0)
    }
}
