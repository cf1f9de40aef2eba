// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import Testing

@Suite struct MetricRegistryTests {
    @Test func `a value belongs to the first bucket whose bound is not smaller`() {
        var cell = HistogramCell(bounds: [10, 20])
        for value: Int64 in [-5, 0, 10, 11, 20, 21, 1_000] { cell.add(nanoseconds: value) }
        #expect(cell.counts == [3, 2, 2])
        #expect(cell.count == 7)
        #expect(cell.sum == 1_062)
    }

    @Test func `sums and counts saturate and never wrap`() {
        var cell = HistogramCell(bounds: [10])
        cell.add(nanoseconds: .max)
        cell.add(nanoseconds: .max)
        #expect(cell.sum == .max)
        var number = NumberCell()
        number.add(.max)
        number.add(.max)
        #expect(number.number == .max)
    }

    @Test func `a bucket keeps the last sampled value`() {
        func sample(_ span: UInt64, _ time: Int64) -> Exemplar.Sample {
            Exemplar.Sample(traceHigh: 1, traceLow: 2, spanID: span, time: time)
        }
        var cell = HistogramCell(bounds: [10, 20])
        cell.add(nanoseconds: 5, sample(1, 100))
        cell.add(nanoseconds: 6, sample(2, 200))
        cell.add(nanoseconds: 7)
        cell.add(nanoseconds: 15, sample(3, 300))
        #expect(cell.exemplars.map { $0?.sample.spanID } == [2, 3, nil])
        #expect(cell.exemplars.map { $0?.nanoseconds } == [6, 15, nil])
        var other = HistogramCell(bounds: [10, 20])
        other.add(nanoseconds: 8, sample(4, 150))
        other.add(nanoseconds: 18, sample(5, 350))
        cell.add(other)
        #expect(cell.exemplars.map { $0?.sample.spanID } == [2, 5, nil])
        #expect(cell.counts == [4, 2, 0])
    }

    @Test func `an exemplar is shown in OpenMetrics, at its bucket, and in no other format`() {
        let registry = MetricRegistry.make()
        registry.attemptEnded(
            .make(.other, 200), nanoseconds: 60_000_000,
            Exemplar.Sample(traceHigh: 1, traceLow: 2, spanID: 3, time: 4_000_000_000))
        let shown = registry.samples(in: .openMetrics).filter { !$0.rest.isEmpty }
        #expect(shown.map { $0.labels["le"] } == ["0.075"])
        let trace = "00000000000000010000000000000002"
        #expect(
            shown.map(\.rest) == [
                " # {trace_id=\"\(trace)\",span_id=\"0000000000000003\"} 0.06 4.0"
            ])
        #expect(registry.samples(in: .prometheus).allSatisfy { $0.rest.isEmpty })
    }

    @Test func `what finds no room is counted in one series, and sums stay exact`() throws {
        let registry = MetricRegistry.make(hosts: (0..<64).map { "h\($0).test" }, maxSeries: 20)
        for index in 0..<6_400 {
            let host = registry.hosts.label(forURL: "https://h\(index % 64).test/")
            registry.attemptBegan(ActiveLabels(host: host, method: .get))
            registry.attemptEnded(
                .make(host, HTTPStatus(rawValue: 200 + index % 7)), nanoseconds: 1_000_000)
        }
        let name = "http_client_request_duration_seconds"
        let counts = registry.samples().filter { $0.name == name + "_count" }
        #expect(counts.count == 20)
        #expect(counts.reduce(0) { $0 + $1.value } == 6_400)
        let overflow = counts.filter { $0.labels == ["otel_metric_overflow": "true"] }
        #expect(overflow.count == 1)
        #expect((overflow.first?.value ?? 0) > 0)
        #expect(registry.samples().first { $0.name == name + "_sum" }?.value == 0.015)
        let active = registry.samples().filter { $0.name == "http_client_active_requests" }
        #expect(active.count == 20)
        #expect(active.allSatisfy { $0.value == 0 })
    }

    @Test func `the buckets of a scrape are cumulative`() {
        let registry = MetricRegistry.make()
        let host = registry.hosts.label(forURL: "https://api.test/")
        for milliseconds: Int64 in [1, 5, 6, 200, 20_000] {
            registry.attemptEnded(.make(host, 200), nanoseconds: milliseconds * 1_000_000)
        }
        let buckets = registry.samples().filter {
            $0.name == "http_client_request_duration_seconds_bucket"
        }
        #expect(buckets.map(\.value) == [2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5])
        #expect(buckets.map { $0.labels["le"] }.first == "0.005")
        #expect(buckets.map { $0.labels["le"] }.last == "+Inf")
        #expect(registry.total("http_client_request_duration_seconds_sum") == 20.212)
        #expect(registry.total("http_client_request_duration_seconds_count") == 5)
    }

    @Test func `ports of a host share the series of its waits, and no series is shown twice`() {
        let registry = MetricRegistry.make(hosts: ["api.test:8443"])
        for url in ["https://api.test/", "http://api.test/", "https://api.test:8443/"] {
            registry.loadEnded(
                LoadRecord(
                    host: registry.hosts.label(forURL: url), source: .none, outcome: .success,
                    error: nil))
        }
        let counts = registry.samples().filter {
            $0.name == "dataloading_load_wait_duration_seconds_count"
        }
        #expect(counts.map(\.value) == [3, 3, 3])
        #expect(
            counts.map { $0.labels["dataloading_wait"] } == ["slot", "authorisation", "backoff"])
    }

    @Test func `an added source is read with each scrape`() {
        let registry = MetricRegistry.make()
        let family = MetricFamily(
            "dataloading.queue.size", unit: "{load}", .upDownCounter, "Loads.")
        registry.add { visitor in
            visitor.begin(family)
            visitor.add(.real(2.5), ActiveLabels(host: .other, method: .query))
        }
        let sample = registry.samples().first { $0.name == "dataloading_queue_size" }
        #expect(sample?.value == 2.5)
        #expect(
            sample?.labels == ["http_request_method": "QUERY", "server_address": "_OTHER"])
    }

    @Test func `many threads count without losing anything`() async {
        let registry = MetricRegistry.make()
        let host = registry.hosts.label(forURL: "https://api.test/")
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        registry.attemptBegan(ActiveLabels(host: host, method: .get))
                        registry.attemptEnded(.make(host, 200), nanoseconds: 1_000_000)
                    }
                }
            }
            group.addTask { for _ in 0..<20 { _ = registry.text(in: .openMetrics) } }
        }
        #expect(registry.total("http_client_request_duration_seconds_count") == 8_000)
        #expect(registry.total("http_client_request_duration_seconds_sum") == 8)
        #expect(registry.total("http_client_active_requests") == 0)
    }
}
