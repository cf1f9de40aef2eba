// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// What it costs to read a body of 505 MiB as lines or bytes instead of as chunks.
struct Sequences: Measure {
    let options: Options

    static let number = 19
    private static let bodySize = 505 * 1_048_576
    /// A line of 101 bytes with its end.
    private static let line = String(repeating: "x", count: 100) + "\n"

    private enum Form: String, CaseIterable {
        case chunks, lines, bytes
    }

    private struct Sample {
        let time: Double
        let processorTime: Double
        let growth: Double
    }

    func run() async throws -> [Figure] {
        let server = try NginxServer(bodySize: Self.bodySize, line: Self.line)
        defer { server.stop() }
        guard let url = URL(string: server.url) else { throw Complaint("\(server.url) is no URL") }
        let service = DataLoaderService()
        let loader = service.makeFactory().makeDataLoader()
        var request = DataLoaderRequest(url: url)
        request.timeout = .seconds(600)
        var samples: [Form: [Sample]] = [:]
        // The first round warms up.
        for round in 0...options.rounds {
            for form in Form.allCases {
                let sample = try await sample(form, request, loader)
                if round > 0 { samples[form, default: []].append(sample) }
            }
        }
        return Form.allCases.flatMap { figures($0, samples[$0] ?? []) }
    }

    private func sample(
        _ form: Form, _ request: DataLoaderRequest, _ loader: DataLoader
    ) async throws -> Sample {
        let (before, start) = (Usage.now, ContinuousClock.now)
        let memory = ProcessStatus.residentBytes
        let count = try await read(form, request, loader)
        guard count == expected(form) else { throw Complaint("\(form): \(count) elements") }
        let elapsed = ContinuousClock.now - start
        return Sample(
            time: elapsed / .milliseconds(1),
            processorTime: (Usage.now.processorTime - before.processorTime) * 1_000,
            growth: Double(ProcessStatus.residentBytes - memory) / 1_024)
    }

    private func expected(_ form: Form) -> Int {
        switch form {
        case .chunks, .bytes: Self.bodySize
        case .lines: Self.bodySize / Self.line.utf8.count
        }
    }

    private func read(
        _ form: Form, _ request: DataLoaderRequest, _ loader: DataLoader
    ) async throws -> Int {
        var count = 0
        switch form {
        case .chunks: for try await chunk in loader.chunks(for: request) { count += chunk.count }
        case .lines: for try await _ in loader.lines(for: request) { count += 1 }
        case .bytes: for try await _ in loader.bytes(for: request) { count += 1 }
        }
        return count
    }

    private func figures(_ form: Form, _ samples: [Sample]) -> [Figure] {
        [
            figure(form, samples.map(\.time), "ms"),
            figure(form, samples.map(\.processorTime), "ms of processor time"),
            figure(form, samples.map(\.growth), "KiB grown"),
        ]
    }

    private func figure(_ form: Form, _ samples: [Double], _ unit: String) -> Figure {
        Figure(
            measure: Self.number, contestant: form.rawValue, c: 1, samples: samples, unit: unit)
    }
}
