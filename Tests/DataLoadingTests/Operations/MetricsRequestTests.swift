// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import Foundation
import Testing

/// Metrics as OTLP's JSON has them.
@Suite struct MetricsRequestTests {
    private struct Sent: Decodable {
        struct Resource: Decodable {
            struct Attributes: Decodable { let attributes: [SentSpan.Attribute] }

            let resource: Attributes
            let scopeMetrics: [Scope]
        }

        struct Scope: Decodable { let metrics: [Metric] }

        struct Metric: Decodable {
            let name: String
            let unit: String
            let sum: Points?
            let gauge: Points?
            let histogram: Points?
        }

        struct Points: Decodable {
            let aggregationTemporality: Int?
            let isMonotonic: Bool?
            let dataPoints: [Point]
        }

        struct Point: Decodable {
            let attributes: [SentSpan.Attribute]
            let startTimeUnixNano: String?
            let timeUnixNano: String
            let asInt: String?
            let asDouble: Double?
            let count: String?
            let sum: Double?
            let bucketCounts: [String]?
            let explicitBounds: [Double]?
            let exemplars: [Exemplar]?
        }

        struct Exemplar: Decodable {
            let timeUnixNano: String
            let asDouble: Double
            let traceId: String
            let spanId: String
        }

        let resourceMetrics: [Resource]

        var metrics: [Metric] { resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics) }
    }

    private func sent(_ registry: MetricRegistry) throws -> Sent {
        let request = MetricsRequest(registry.names, from: 5, at: 7)
        registry.visit(request)
        let bytes = request.bytes(of: [Label("service.name", "feeds")])
        return try JSONDecoder().decode(Sent.self, from: Data(bytes))
    }

    @Test func `a histogram has its counts as texts and its bounds in seconds`() throws {
        let registry = MetricRegistry.make()
        let host = registry.hosts.label(forURL: "https://api.test/")
        let sample = Exemplar.Sample(traceHigh: 1, traceLow: 2, spanID: 3, time: 4)
        registry.attemptEnded(.make(host, 503), nanoseconds: 40_000_000, sample)
        let sent = try sent(registry)
        #expect(sent.resourceMetrics[0].resource.attributes["service.name"] == "feeds")
        let metric = try #require(
            sent.metrics.first { $0.name == "http.client.request.duration" })
        #expect(metric.unit == "s")
        let histogram = try #require(metric.histogram)
        #expect(histogram.aggregationTemporality == 2)
        let point = try #require(histogram.dataPoints.first)
        #expect((point.startTimeUnixNano, point.timeUnixNano) == ("5", "7"))
        #expect((point.count, point.sum) == ("1", 0.04))
        #expect(point.bucketCounts?.count == 15)
        #expect(point.bucketCounts?.firstIndex(of: "1") == 3)
        #expect(point.explicitBounds?.prefix(3) == [0.005, 0.01, 0.025])
        #expect(point.attributes["server.address"] == "api.test")
        let status = point.attributes.first { $0.key == "http.response.status_code" }
        #expect(status?.value.intValue == "503")
        let exemplar = try #require(point.exemplars?.first)
        #expect(exemplar.traceId == "00000000000000010000000000000002")
        #expect((exemplar.spanId, exemplar.asDouble) == ("0000000000000003", 0.04))
        #expect(exemplar.timeUnixNano == "4")
    }

    @Test func `counters are monotonic sums, up-down counters are not, and gauges have no start`()
        throws
    {
        let registry = MetricRegistry.make()
        registry.countEverything()
        let metrics = try sent(registry).metrics
        let retries = try #require(metrics.first { $0.name == "dataloading.retries" }?.sum)
        #expect((retries.isMonotonic, retries.aggregationTemporality) == (true, 2))
        #expect(retries.dataPoints[0].asInt == "1")
        let active = try #require(metrics.first { $0.name == "http.client.active_requests" }?.sum)
        #expect((active.isMonotonic, active.aggregationTemporality) == (false, 2))
        #expect(active.dataPoints[0].startTimeUnixNano == "5")
        let build = try #require(metrics.first { $0.name == "dataloading.build.info" }?.gauge)
        #expect(build.dataPoints[0].startTimeUnixNano == nil)
        #expect(!metrics.contains { $0.name == "target.info" })
    }

    @Test func `attributes of the resource are whole texts, whatever their names are`() throws {
        let long = String(repeating: "a", count: 1_000)
        let resource = [
            Label("server.port", "abc"), Label("otel.metric.overflow", "true"),
            Label("deployment.environment.name", long),
        ]
        let request = MetricsRequest(MetricRegistry.make().names, from: 0, at: 0)
        let sent = try JSONDecoder().decode(Sent.self, from: Data(request.bytes(of: resource)))
        let attributes = sent.resourceMetrics[0].resource.attributes
        #expect(attributes.map(\.value.stringValue) == ["abc", "true", long])
    }

    @Test func `what is no number is left out, and with it an empty family`() throws {
        let request = MetricsRequest(MetricRegistry.make().names, from: 0, at: -1)
        request.begin(.rateLimit)
        request.add(.real(.nan), NoLabels())
        request.add(.real(.infinity), NoLabels())
        request.begin(.retryBudget)
        request.add(.real(0.5), NoLabels())
        #expect(request.count == 1)
        let sent = try JSONDecoder().decode(Sent.self, from: Data(request.bytes(of: [])))
        #expect(sent.metrics.map(\.name) == ["dataloading.retry.budget"])
        #expect(sent.metrics[0].gauge?.dataPoints.map(\.asDouble) == [0.5])
        #expect(sent.metrics[0].gauge?.dataPoints.map(\.timeUnixNano) == ["0"])
    }
}
