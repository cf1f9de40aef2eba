// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// The path of `promtool`, and that of a Python with `prometheus_client`.
private let promtool = ProcessInfo.processInfo.environment["DATALOADING_PROMTOOL"]
private let python = ProcessInfo.processInfo.environment["DATALOADING_PROMETHEUS_CLIENT"]
/// The path of a Python with `opentelemetry-proto`, which brings protobuf.
private let protobuf = ProcessInfo.processInfo.environment["DATALOADING_OTLP"]

/// What others read is what was written.
@Suite struct ForeignParserTests {
    private static let registry = {
        let registry = MetricRegistry.make()
        registry.countEverything()
        let server = HostileServer(registry)
        for index in 0..<300 { server.countLoad(index) }
        return registry
    }()

    @Test(.enabled(if: promtool != nil, "promtool is not installed"))
    func `promtool finds no fault in a scrape`() throws {
        let tool = try Filter(promtool ?? "", ["check", "metrics"])
        let result = try tool.run(Self.registry.text(in: .prometheus))
        #expect(result.status == 0)
        #expect(String(decoding: result.output, as: UTF8.self) == "")
    }

    @Test(.enabled(if: promtool != nil, "promtool is not installed"))
    func `promtool reads 10,000 random labels`() throws {
        let tool = try Filter(promtool ?? "", ["check", "metrics"])
        let result = try tool.run(RandomScrape().prometheus)
        #expect(result.status == 0, "\(String(decoding: result.output, as: UTF8.self))")
    }

    @Test(.enabled(if: python != nil, "prometheus_client is not installed"))
    func `prometheus_client reads a scrape in OpenMetrics`() throws {
        let text = Self.registry.text(in: .openMetrics)
        let labels = try Self.labels(of: text)
        #expect(labels.count == ExpositionParser.samples(of: text).count)
    }

    @Test(.enabled(if: python != nil, "prometheus_client is not installed"))
    func `prometheus_client reads 10,000 random labels as they were written`() throws {
        let scrape = RandomScrape()
        let found = try Self.labels(of: scrape.openMetrics).map { $0["service_name"] ?? "?" }
        #expect(found.map { Array($0.utf8) } == scrape.names.map { Array($0.utf8) })
    }

    @Test(.enabled(if: protobuf != nil, "opentelemetry-proto is not installed"))
    func `protobuf reads metrics as a request of OTLP, and knows every member`() throws {
        let request = MetricsRequest(Self.registry.names, from: 1, at: 2)
        Self.registry.visit(request)
        let bytes = request.bytes(of: Self.registry.target.labels(Self.registry.names))
        let count = try Self.count(
            "metrics", "ExportMetricsServiceRequest", bytes,
            """
            sum(len(getattr(metric, metric.WhichOneof("data")).data_points)
                for resource in message.resource_metrics for scope in resource.scope_metrics
                for metric in scope.metrics)
            """)
        #expect(count == request.count)
    }

    @Test(.enabled(if: protobuf != nil, "opentelemetry-proto is not installed"))
    func `protobuf reads spans as a request of OTLP, and knows every member`() async throws {
        let scene = try TelemetryScene([.respond(status: 503), .fail(.tls)]) {
            $0.recordsLoadSpans = true
        }
        let trace = TraceContext(
            traceparent: try TraceContext.sampled.traceparent, tracestate: "vendor=\"1\"")
        for _ in 0..<3 { await scene.load("/ü", trace: trace) }
        #expect(try await scene.spans().count == 6)
        let bytes = try #require(scene.collector.bodies("/v1/traces").first)
        let count = try Self.count(
            "trace", "ExportTraceServiceRequest", Array(bytes),
            """
            sum(len(span.trace_id) == 16 and len(span.span_id) == 8
                for resource in message.resource_spans for scope in resource.scope_spans
                for span in scope.spans)
            """)
        #expect(count == 6)
    }

    /// What an expression says of a request as protobuf's strict parser reads it.
    ///
    /// OTLP's JSON has numbers of traces and spans in hexadecimal, and protobuf's JSON in base64.
    private static func count(
        _ signal: String, _ name: String, _ bytes: [UInt8], _ expression: String
    ) throws -> Int? {
        let program = """
            import base64, json, sys
            from google.protobuf import json_format
            from opentelemetry.proto.collector.\(signal).v1 import \(signal)_service_pb2 as service
            def convert(value):
                if isinstance(value, list): return [convert(item) for item in value]
                if not isinstance(value, dict): return value
                return {key: base64.b64encode(bytes.fromhex(item)).decode()
                        if key in ("traceId", "spanId", "parentSpanId") else convert(item)
                        for key, item in value.items()}
            body = convert(json.load(sys.stdin))
            message = json_format.ParseDict(body, service.\(name)(), ignore_unknown_fields=False)
            print(\(expression))
            """
        let result = try Filter(protobuf ?? "", ["-c", program]).run(bytes)
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == 0, "\(text)")
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// The labels of the samples that prometheus_client's strict parser reads.
    private static func labels(of text: [UInt8]) throws -> [[String: String]] {
        let program = """
            import json, sys
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
            text = sys.stdin.buffer.read().decode()
            families = text_string_to_metric_families(text)
            json.dump([sample.labels for family in families for sample in family.samples], sys.stdout)
            """
        let result = try Filter(python ?? "", ["-c", program]).run(text)
        #expect(result.status == 0, "\(String(decoding: result.output, as: UTF8.self))")
        return try JSONDecoder().decode([[String: String]].self, from: result.output)
    }
}

/// A scrape with 10,000 random labels.
private struct RandomScrape {
    let names: [String]
    let prometheus: [UInt8]
    let openMetrics: [UInt8]

    init() {
        var generator = SeededGenerator(seed: 20_260_101)
        // A number at the start, so that no two are equal.
        names = (0..<10_000).map { "\($0) \(RandomLabel.next(&generator))".cutForLabel }
        let writers = BothWriters(MetricRegistry.make().names)
        writers.begin(.targetInformation)
        for name in names {
            writers.add(
                .whole(1), TargetLabels(serviceName: name, serviceVersion: nil, instance: "a"))
        }
        prometheus = writers.prometheus.bytes
        openMetrics = writers.openMetrics.bytes
    }
}

/// A program that reads its input to the end and then answers.
private struct Filter {
    private let process = Process()

    init(_ path: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
    }

    /// Runs it on a text, which comes from a file: a pipe that is full would wait for its reader.
    func run(_ text: [UInt8]) throws -> (status: Int32, output: Data) {
        let directory = TemporaryDirectory()
        let file = directory.url("input")
        try Data(text).write(to: file)
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }
}
