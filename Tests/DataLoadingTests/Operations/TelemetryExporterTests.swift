// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// What is sent to a collector that answers as a test says.
@Suite(.timeLimit(.minutes(30))) struct TelemetryExporterTests {
    private let clock = ManualClock()
    private let registry = MetricRegistry.make()

    private func exporter(
        _ collector: ScriptedTransport, _ change: (inout TelemetryPush) -> Void = { _ in }
    ) -> TelemetryExporter {
        var push = TelemetryPush(endpoint: testURL("http://collector.test:4318"))
        push.headers = ["api-key": "k"]
        change(&push)
        let exporter = TelemetryExporter(
            push, attributes: [Label("deployment.environment.name", "test")], of: registry,
            transport: collector, timekeeper: clock.timekeeper)
        exporter.start()
        return exporter
    }

    private func add(_ count: Int, to exporter: TelemetryExporter) throws {
        let spans = try #require(exporter.spans)
        let record = AttemptRecord.make()
        for _ in 0..<count { spans.attemptEnded(record) }
    }

    private func dropped(_ signal: String) -> Double {
        registry.samples().first {
            $0.name == "dataloading_telemetry_dropped_total"
                && $0.labels["dataloading_signal"] == signal
        }?.value ?? -1
    }

    /// Ends an exporter whose collector answers: only what is due at once needs the clock, which
    /// would else outrun the answers.
    private func end(_ exporter: TelemetryExporter) async throws {
        try await clock.advance(by: .zero) { await exporter.shutDown() }
    }

    @Test func `spans are sent after five seconds, and metrics after each interval`() async throws {
        let collector = ScriptedTransport(otherwise: .respond(status: 200, body: Data("{}".utf8)))
        let exporter = exporter(collector)
        try add(3, to: exporter)
        clock.advance(by: .milliseconds(4_999))
        #expect(collector.attempts.isEmpty)
        clock.advance(by: .milliseconds(1))
        let first = await collector.attempts(1)[0].request
        #expect(first.url.absoluteString == "http://collector.test:4318/v1/traces")
        #expect(first.method == .post)
        #expect(first.headers["Content-Type"] == "application/json")
        #expect(first.headers["api-key"] == "k")
        #expect(first.headers["traceparent"] == nil)
        #expect(try collector.spans().count == 3)
        clock.advance(by: .seconds(55))
        let second = await collector.attempts(2)[1].request
        #expect(second.url.absoluteString == "http://collector.test:4318/v1/metrics")
        // An interval is left out while a push is not over.
        try await clock.advance(by: .seconds(60)) { _ = await collector.attempts(3) }
        #expect(collector.attempts[2].request.url == second.url)
        try await end(exporter)
    }

    @Test func `512 spans are sent at once`() async throws {
        let collector = ScriptedTransport(otherwise: .respond(status: 200))
        let exporter = exporter(collector)
        try add(512, to: exporter)
        _ = await collector.attempts(1)
        #expect(try collector.spans().count == 512)
        try await end(exporter)
    }

    @Test func `a 429 is repeated when its Retry-After has passed`() async throws {
        let collector = ScriptedTransport(
            [.respond(status: 429, headers: ["Retry-After": "20"])],
            otherwise: .respond(status: 200))
        let exporter = exporter(collector) { $0.sendsMetrics = false }
        try add(1, to: exporter)
        clock.advance(by: .seconds(5))
        _ = await collector.attempts(1)
        collector.flush()
        await clock.waitForAlarms(1, within: .seconds(23))
        clock.advance(by: .milliseconds(19_999))
        #expect(collector.attempts.count == 1)
        clock.advance(by: .seconds(3))
        _ = await collector.attempts(2)
        #expect(try collector.spans().count == 2)
        try await end(exporter)
        #expect(collector.attempts.count == 2)
        #expect(dropped("traces") == 0)
    }

    @Test(
        arguments: [
            ScriptedAnswer.respond(status: 502), .respond(status: 503), .respond(status: 504),
            .fail(.connectRefused), .fail(.connectionReset, sent: .written),
        ])
    func `an outcome that OTLP repeats is repeated five times`(_ answer: ScriptedAnswer)
        async throws
    {
        let collector = ScriptedTransport(otherwise: answer)
        let exporter = exporter(collector) { $0.sendsMetrics = false }
        try add(2, to: exporter)
        clock.advance(by: .seconds(5))
        let pauses = Task {
            while !Task.isCancelled {
                // A pause, and not the deadline of a minute.
                await clock.waitForAlarms(1, within: .seconds(7))
                clock.advance(by: .seconds(7))
            }
        }
        _ = await collector.attempts(6)
        pauses.cancel()
        await eventually { dropped("traces") == 2 }
        try await end(exporter)
        #expect(collector.attempts.count == 6)
        #expect(dropped("traces") == 2)
    }

    @Test(
        arguments: [
            ScriptedAnswer.respond(status: 400), .respond(status: 500), .respond(status: 404),
            .respond(status: 307, headers: ["Location": "https://other.test/v1/traces"]),
        ])
    func `after any other outcome a batch is dropped and counted`(_ answer: ScriptedAnswer)
        async throws
    {
        let collector = ScriptedTransport(otherwise: answer)
        let exporter = exporter(collector) { $0.sendsMetrics = false }
        try add(7, to: exporter)
        clock.advance(by: .seconds(5))
        await eventually { dropped("traces") == 7 }
        try await end(exporter)
        #expect(collector.attempts.count == 1)
        #expect(dropped("traces") == 7)
    }

    @Test(
        arguments: [
            ("{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"x\"}}", 2),
            ("{\"partialSuccess\":{\"rejectedSpans\":2}}", 2),
            ("{\"partialSuccess\":{\"rejectedSpans\":\"9223372036854775807\"}}", 7),
            ("{\"partialSuccess\":{\"rejectedSpans\":-1}}", 0),
            ("{\"partialSuccess\":{\"errorMessage\":\"a warning\"}}", 0),
            ("{\"partialSuccess\":null}", 0), ("{\"partialSuccess\":{\"rejectedSpans\":[]}}", 0),
            ("{}", 0), ("", 0), ("<html>", 0), (String(repeating: "[", count: 100_000), 0),
        ])
    func `what a collector refuses of a request is counted, and not sent again`(
        _ body: String, _ rejected: Int
    ) async throws {
        let collector = ScriptedTransport(
            otherwise: .respond(status: 200, body: Data(body.utf8)))
        let exporter = exporter(collector) { $0.sendsMetrics = false }
        try add(7, to: exporter)
        try await end(exporter)
        #expect(collector.attempts.count == 1)
        #expect(dropped("traces") == Double(rejected))
    }

    @Test func `refused data points are counted as metrics`() async throws {
        let body = "{\"partialSuccess\":{\"rejectedDataPoints\":\"3\"}}"
        let collector = ScriptedTransport(
            otherwise: .respond(status: 200, body: Data(body.utf8)))
        registry.countEverything()
        let exporter = exporter(collector)
        try await end(exporter)
        #expect(dropped("metrics") == 3)
        #expect(dropped("traces") == 0)
    }

    @Test
    func
        `a collector that is dead for ten minutes costs a bounded queue, and each span is counted`()
        async throws
    {
        let collector = ScriptedTransport(otherwise: .hold)
        let exporter = exporter(collector)
        let spans = try #require(exporter.spans)
        let total = 600 * 50
        for _ in 0..<600 {
            try add(50, to: exporter)
            clock.advance(by: .seconds(1))
            #expect(spans.waiting <= SpanQueue.maxCount)
        }
        // An attempt that is over may be about to be cancelled.
        await eventually { collector.attempts.count { !$0.isCancelled } <= 2 }
        try await clock.advance(by: .milliseconds(500)) { await exporter.shutDown() }
        #expect(spans.waiting == 0)
        // A batch that was under way before the last push is counted when its load has ended.
        await eventually { dropped("traces") >= Double(total) }
        #expect(dropped("traces") == Double(total))
        #expect(dropped("metrics") > 0)
    }

    @Test func `a collector that was gone for a moment gets everything`() async throws {
        let collector = ScriptedTransport(
            [.fail(.connectRefused)], otherwise: .respond(status: 200))
        let exporter = exporter(collector) { $0.sendsMetrics = false }
        try add(512, to: exporter)
        _ = await collector.attempts(1)
        // The first pause between attempts, which is shorter than the wait for more spans.
        await clock.waitForAlarms(1, within: .milliseconds(200))
        clock.advance(by: .seconds(7))
        _ = await collector.attempts(2)
        try await end(exporter)
        #expect(dropped("traces") == 0)
    }

    @Test func `after a batch that is refused the next one waits`() async throws {
        let collector = ScriptedTransport([.hold], otherwise: .respond(status: 200))
        let exporter = exporter(collector) { $0.sendsMetrics = false }
        let spans = try #require(exporter.spans)
        try add(512, to: exporter)
        let refused = await collector.attempts(1)[0]
        // The wait for more spans is over before the refusal begins another one.
        clock.advance(by: .seconds(5))
        refused.respond(status: 400)
        await eventually { dropped("traces") == 512 }
        await clock.waitForAlarms(1, within: .seconds(5))
        try add(600, to: exporter)
        #expect(spans.waiting == 600)
        #expect(collector.attempts.count == 1)
        clock.advance(by: .seconds(5))
        _ = await collector.attempts(2)
        try await end(exporter)
        #expect(try collector.spans().count == 1_112)
        #expect(dropped("traces") == 512)
    }

    @Test func `the last push takes two seconds at most`() async throws {
        let collector = ScriptedTransport(otherwise: .hold)
        let exporter = exporter(collector)
        try add(3, to: exporter)
        let end = Task { await exporter.shutDown() }
        _ = await collector.attempts(2)
        await clock.waitForAlarms(1, within: .seconds(2))
        clock.advance(by: .seconds(2))
        // Alarms that are due when they are set fire in the next advance.
        try await clock.advance(by: .zero) { await end.value }
        #expect(dropped("traces") == 3)
        #expect(collector.isShutDown)
    }

    @Test func `an exporter that has ended leaves nothing`() async throws {
        weak var released: ScriptedTransport?
        do {
            let collector = ScriptedTransport(otherwise: .respond(status: 200))
            released = collector
            let exporter = exporter(collector)
            try add(3, to: exporter)
            try await end(exporter)
            #expect(collector.attempts.count == 2)
        }
        await eventually { released == nil }
    }

    @Test func `an exporter that is dropped stops`() async throws {
        let collector = ScriptedTransport(otherwise: .respond(status: 200))
        do { _ = exporter(collector) }
        clock.advance(by: .seconds(600))
        #expect(collector.attempts.isEmpty)
        #expect(clock.pendingAlarms == 0)
    }

    @Test func `telemetry is not in the metrics, and without a push nothing runs`() async throws {
        let scene = try TelemetryScene()
        #expect(scene.clock.pendingAlarms == 1)
        await scene.load()
        await scene.operations.shutDown(gracePeriod: .zero)
        #expect(scene.collector.bodies("/v1/metrics").count == 1)
        let samples = ExpositionParser.samples(of: Array(scene.operations.exposition().body))
        let attempts = samples.filter { $0.name == "http_client_request_duration_seconds_count" }
        #expect(attempts.map(\.value) == [1])
        let silent = try TelemetryScene { $0.push = nil }
        #expect(silent.clock.pendingAlarms == 0)
        await silent.load(trace: try .sampled)
        await silent.operations.shutDown(gracePeriod: .zero)
        #expect(silent.collector.attempts.isEmpty)
        let text = String(decoding: silent.operations.exposition().body, as: UTF8.self)
        #expect(!text.contains("telemetry_dropped"))
    }
}
