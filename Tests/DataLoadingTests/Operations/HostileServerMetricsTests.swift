// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    /// What a server chooses adds no series without end, and everything is counted.
    @Suite struct HostileServerMetricsTests {
        @Test func `100,000 hosts, methods and statuses give at most 200 series an instrument`() {
            let registry = MetricRegistry.make(hosts: (0..<40).map { "h\($0).test" })
            let rounds = ProcessInfo.processInfo.environment["VIRTUAL_LOADS"].flatMap { Int($0) }
            let total = rounds ?? 100_000
            let server = HostileServer(registry)
            for index in 0..<total { server.countLoad(index) }
            let samples = registry.samples()
            for name in [
                "http_client_request_duration_seconds", "dataloading_load_duration_seconds",
            ] {
                let counts = samples.filter { $0.name == name + "_count" }
                #expect(counts.count <= 200)
                #expect(counts.reduce(0) { $0 + $1.value } == Double(total))
            }
            let waits = samples.filter { $0.name == "dataloading_load_wait_duration_seconds_count" }
            #expect(waits.count <= 200)
            #expect(waits.reduce(0) { $0 + $1.value } == Double(3 * total))
            let active = samples.filter { $0.name == "http_client_active_requests" }
            #expect(active.count <= 200)
            #expect(active.reduce(0) { $0 + $1.value } == 0)
            let retries = samples.filter { $0.name == "dataloading_retries_total" }
            #expect(retries.count <= 200)
            #expect(retries.reduce(0) { $0 + $1.value } == Double(total))
            // Each attempt took a millisecond.
            let sums = samples.filter { $0.name == "http_client_request_duration_seconds_sum" }
            #expect(abs(sums.reduce(0) { $0 + $1.value } - Double(total) / 1_000) < 1e-6)
            let values = Set(samples.flatMap(\.labels.values))
            #expect(!values.contains { $0.contains("evil") })
            #expect(registry.text(in: .openMetrics).count < 2_097_152)
        }
    }
}

/// A server, and a program that it leads, of which nothing is twice the same.
struct HostileServer: Sendable {
    let registry: MetricRegistry
    private let clock = SteppingClock()
    private let held = HeldTransport()

    init(_ registry: MetricRegistry) {
        self.registry = registry
    }

    /// Counts a load of one attempt, which takes a millisecond.
    func countLoad(_ index: Int) {
        let host =
            index % 3 == 0 ? "h\(index % 40).test" : "evil\(index).test:\(1 + index % 65_535)"
        let url = testURL("https://\(host)/evil/\(index)?q=\(index)")
        let status = HTTPStatus(rawValue: 100 + index % 900)
        let method = index % 5 == 0 ? HTTPMethod(rawValue: "EVIL\(index)") : .post
        countAttempt(index, TransportRequest(method: method, url: url), status)
        var metrics = LoadMetrics()
        metrics.retries = 1
        let request = DataLoaderRequest(url: url, sourceIdentifier: "source \(index % 30)")
        let response = DataLoaderResponse(
            request: request, error: .status(status), statusCode: status, metrics: metrics)
        LoadRecorder(registry).endedRequest(
            with: response, bytesDownloaded: 0, bytesUploaded: 0)
    }

    private func countAttempt(_ index: Int, _ request: TransportRequest, _ status: HTTPStatus) {
        _ = held.counted(by: registry, timekeeper: clock)
            .start(request, sink: IgnoringSink())
        let sink = held.take()
        sink.didReceive(DataLoading.ResponseHead(status: status))
        var report = TransportReport()
        report.httpVersion = index % 7 == 0 ? "evil \(index)" : "1.1"
        if index % 11 == 0 {
            let failure = DataLoaderError.framing(reason: "evil \(index)")
            sink.didFail(TransportFailure(failure, sent: .headReceived, report: report))
        } else {
            sink.didEnd(report)
        }
    }
}

/// A clock that moves by a millisecond each time it is read.
private struct SteppingClock: Timekeeper {
    private let reads = Locked(0)
    private let manual = ManualClock().timekeeper

    var now: Instant { Instant(nanoseconds: Int64(reads.add(1)) * 1_000_000) }
    var date: Date { manual.date }

    func makeAlarm(_ handler: @escaping @Sendable () -> Void) -> any Alarm {
        manual.makeAlarm(handler)
    }
}
