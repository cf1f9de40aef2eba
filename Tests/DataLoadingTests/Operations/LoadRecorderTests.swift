// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

@Suite struct LoadRecorderTests {
    private let registry = MetricRegistry.make()

    private func samples(_ name: String) -> [ExpositionParser.Sample] {
        registry.samples().filter { $0.name == name }
    }

    private func end(
        _ error: DataLoaderError?, source: String? = "feed", url: String = "https://api.test/a",
        received: Int64 = 0, sent: Int64 = 0, _ change: (inout LoadMetrics) -> Void = { _ in }
    ) {
        var metrics = LoadMetrics()
        change(&metrics)
        let request = DataLoaderRequest(url: testURL(url), sourceIdentifier: source)
        LoadRecorder(registry).endedRequest(
            with: DataLoaderResponse(request: request, error: error, metrics: metrics),
            bytesDownloaded: received, bytesUploaded: sent)
    }

    @Test func `a load is counted with its source, outcome and error`() {
        end(nil)
        end(.cancelled)
        end(.status(503))
        end(.dns, source: nil)
        #expect(
            samples("dataloading_load_duration_seconds_count").map(\.labels) == [
                ["dataloading_source": "feed", "dataloading_outcome": "success"],
                ["dataloading_source": "feed", "dataloading_outcome": "cancelled"],
                [
                    "dataloading_source": "feed", "dataloading_outcome": "failure",
                    "error_type": "503",
                ],
                ["dataloading_outcome": "failure", "error_type": "dns"],
            ])
    }

    @Test func `a load's waits are told apart, and one without a wait counts as zero`() {
        end(nil) { metrics in
            metrics.totalTime = .seconds(9)
            metrics.admissionTime = .milliseconds(2)
            metrics.authorisationTime = .seconds(3)
            metrics.backOffTime = .milliseconds(500)
        }
        end(nil)
        let name = "dataloading_load_wait_duration_seconds"
        #expect(samples(name + "_sum").map(\.value) == [0.002, 3, 0.5])
        #expect(samples(name + "_count").map(\.value) == [2, 2, 2])
        #expect(samples(name + "_count").allSatisfy { $0.labels["server_address"] == "api.test" })
        #expect(registry.total("dataloading_load_duration_seconds_sum") == 9)
    }

    @Test func `the bytes of all loads are counted by host, source and direction`() {
        end(nil, received: 1_000, sent: 40)
        end(.cancelled, received: 7, sent: 0)
        end(nil, source: nil, url: "https://other.test/", received: 1, sent: 2)
        let bytes = samples("dataloading_network_io_bytes_total")
        #expect(bytes.map(\.value).sorted() == [1, 2, 40, 1_007])
        #expect(
            bytes.first { $0.value == 1_007 }?.labels == [
                "network_io_direction": "receive", "server_address": "api.test",
                "dataloading_source": "feed",
            ])
        #expect(
            bytes.first { $0.value == 2 }?.labels
                == ["network_io_direction": "transmit", "server_address": "_OTHER"])
    }

    @Test func `retries are counted by host, with the error of a load that they did not help`() {
        end(nil) { $0.retries = 2 }
        end(.dns) { $0.retries = 3 }
        end(.dns, url: "https://other.test/") { $0.retries = 4 }
        end(.dns)
        let retries = samples("dataloading_retries_total")
        #expect(retries.map(\.value) == [2, 3, 4])
        #expect(retries.map { $0.labels["error_type"] } == [nil, "dns", "dns"])
        #expect(
            retries.map { $0.labels["server_address"] } == ["api.test", "api.test", "_OTHER"])
    }

    @Test func `loads of a service are counted with all their attempts`() async {
        let registry = registry
        let bed = TestBed([.fail(.connectionReset, sent: .written), .respond(status: 200)]) {
            if let transport = $0.transport {
                $0.transport = transport.counted(by: registry)
            }
        }
        let recorder = LoadRecorder(registry)
        let queue = DispatchQueue(label: "metrics")
        bed.service.addConsumptionObserver(recorder, on: queue)
        registry.observe(bed.service)
        bed.loader.perform(
            .make(host: "https://api.test") { $0.retryPolicy = .immediately(maximumRetries: 1) })
        _ = await bed.observer.entries(1)
        bed.settle()
        queue.sync {}
        #expect(registry.total("dataloading_load_duration_seconds_count") == 1)
        #expect(registry.total("http_client_request_duration_seconds_count") == 2)
        #expect(registry.total("dataloading_retries_total") == 1)
        #expect(registry.total("http_client_active_requests") == 0)
        #expect(
            samples("dataloading_observer_dropped_total").map(\.labels)
                == [["dataloading_signal": "notices"]])
        bed.expectNothingLeft()
    }

    @Test func `a registry does not keep the service that it observes`() {
        weak let gone = {
            let service = DataLoaderService()
            registry.observe(service)
            return service
        }()
        #expect(gone == nil)
        #expect(samples("dataloading_observer_dropped_total").isEmpty)
    }
}
