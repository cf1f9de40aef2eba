// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// The path of `promtool`, and that of a Python with `prometheus_client`.
private let promtool = ProcessInfo.processInfo.environment["DATALOADING_PROMTOOL"]
private let python = ProcessInfo.processInfo.environment["DATALOADING_PROMETHEUS_CLIENT"]

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
