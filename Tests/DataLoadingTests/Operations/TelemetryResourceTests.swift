// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// What a collector is told of the service that sends.
@Suite(.timeLimit(.minutes(30))) struct TelemetryResourceTests {
    @Test func `the resource names what sends it, and the environment cannot change that`()
        async throws
    {
        struct Body: Decodable {
            struct Spans: Decodable { let resource: Resource }
            struct Resource: Decodable { let attributes: [SentSpan.Attribute] }
            let resourceSpans: [Spans]
        }
        let clock = ManualClock()
        let registry = MetricRegistry.make()
        let collector = ScriptedTransport(otherwise: .respond(status: 200))
        let exporter = TelemetryExporter(
            TelemetryPush(endpoint: testURL("http://collector.test:4318")),
            attributes: [Label("telemetry.sdk.name", "other"), Label("a", "b")], of: registry,
            transport: collector, timekeeper: clock.timekeeper)
        exporter.start()
        // As many as are sent at once.
        let spans = try #require(exporter.spans)
        let record = AttemptRecord.make()
        for _ in 0..<512 { spans.attemptEnded(record) }
        _ = await collector.attempts(1)
        let bytes = try #require(collector.bodies("/v1/traces").first)
        let body = try JSONDecoder().decode(Body.self, from: bytes)
        let attributes = try #require(body.resourceSpans.first).resource.attributes
        #expect(attributes["telemetry.sdk.name"] == "DataLoading")
        #expect(attributes["telemetry.sdk.language"] == "swift")
        #expect(attributes["telemetry.sdk.version"] == BuildLabels.version)
        #expect(attributes["a"] == "b")
        #expect(Set(attributes.map(\.key)).count == attributes.count)
        try await clock.advance(by: .zero) { await exporter.shutDown() }
    }
}
