// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

@testable import FeedDaemon

@Suite struct RunRecordTests {
    private let begun = ContinuousClock.now

    private func record(features: [String] = [], addresses: [String] = []) -> RunRecord {
        var configuration = FeedConfiguration()
        configuration.features = features.map {
            FeedConfiguration.Feature(name: $0, urls: [], interval: .seconds(1))
        }
        configuration.addresses = addresses.isEmpty ? [:] : ["a.test": addresses]
        return RunRecord(configuration, begun: begun)
    }

    private func response(
        _ error: DataLoaderError? = nil, from address: String = "10.0.0.1", total: Duration = .zero
    ) throws -> DataLoaderResponse {
        var request = DataLoaderRequest(url: try #require(URL(string: "http://a.test/x")))
        request.sourceIdentifier = "news"
        var metrics = LoadMetrics()
        metrics.attempts = 3
        metrics.retries = 1
        metrics.addresses = [address]
        metrics.admissionTime = .seconds(1)
        metrics.totalTime = metrics.admissionTime + total
        return DataLoaderResponse(
            request: request, error: error, statusCode: .ok, metrics: metrics)
    }

    @Test func `the record counts each load once, by how it ended`() throws {
        var record = record(features: ["news"])
        for error in [nil, .cancelled, .connectRefused, .connectRefused] as [DataLoaderError?] {
            _ = record.learn(.ended(try response(error), down: 10, up: 1))
        }
        let counts = record.counts(of: "news")
        #expect(counts.loads == 4)
        #expect(counts.succeeded == 1)
        #expect(counts.cancelled == 1)
        #expect(counts.failed == 2)
        #expect(counts.failures == ["connect_refused": 2])
        #expect(counts.attempts == 12)
        #expect(counts.retries == 4)
        #expect(counts.reauthorised == 4)
        #expect(counts.bytesDown == 40)
        #expect(counts.meanWait == .seconds(1))
        #expect(record.all == counts)
    }

    @Test func `the record notices a failover and a return, and ignores loads sent before them`()
        throws
    {
        var record = record(addresses: ["10.0.0.1", "10.0.0.2"])
        func note(_ address: String, sentAt sent: Int, endedAt ended: Int) throws -> String? {
            let load = try response(from: address, total: .seconds(ended - sent))
            let now = begun + .seconds(ended)
            return record.learn(.ended(load, down: 0, up: 0), at: now).first?.what
        }
        #expect(try note("10.0.0.1", sentAt: 0, endedAt: 1) == nil)
        #expect(try note("10.0.0.2", sentAt: 2, endedAt: 3) == "fails over to 10.0.0.2")
        #expect(try note("10.0.0.1", sentAt: 1, endedAt: 4) == nil)
        #expect(try note("10.0.0.2", sentAt: 4, endedAt: 5) == nil)
        #expect(try note("10.0.0.1", sentAt: 6, endedAt: 7) == "is back at 10.0.0.1")
        #expect(try note("10.0.0.2", sentAt: 6, endedAt: 9) == nil)
        #expect(record.failover == "a.test from 10.0.0.1 to 10.0.0.2 at 3.0 s")
        #expect(record.homecoming == "a.test from 10.0.0.2 to 10.0.0.1 at 7.0 s")
    }

    @Test func `the gate watch distinguishes a closed gate from a low rate`() throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: 0.1)
        let url = try #require(URL(string: "http://a.test"))
        let feature = FeedConfiguration.Feature(name: "news", urls: [url], interval: .seconds(1))
        var gates = GateWatch(limiter: limiter)
        #expect(gates.look(at: feature) == nil)
        try? limiter.setRetryAfter(.seconds(60), for: url)
        guard case .held("news", let time) = gates.look(at: feature) else {
            Issue.record("not seen")
            return
        }
        #expect(time > .seconds(50))
        #expect(gates.look(at: feature) == nil)
        limiter.clearRetryAfter(for: url)
        guard case .released("news") = gates.look(at: feature) else {
            Issue.record("the end was not noticed")
            return
        }
    }

    @Test func `the summary lists missing findings only for the embedded origin`() {
        let record = record(features: ["news"])
        func lines(isShow: Bool) -> [String] {
            Summary(
                record: record, elapsed: .seconds(1), isShow: isShow
            ).lines
        }
        #expect(!lines(isShow: false).contains { $0.contains("not seen") })
        #expect(lines(isShow: true).filter { $0.hasSuffix("not seen in this run") }.count == 8)
    }

    @Test func `the record notes a value again only when it has changed`() throws {
        var record = record(features: ["news"])
        let request = try response().request
        let notes = ["a", "a", "b"].flatMap { record.learn(.loaded(request, summary: $0)) }
        #expect(notes.map(\.what) == ["/x: a", "/x: b"])
    }

    @Test func `a download was resumed if all of its bytes arrived once, from two addresses`()
        throws
    {
        func evidence(_ received: Int64) throws -> String? {
            var record = record(features: ["news"])
            var load = try response()
            load.bodyFile = URL(filePath: "/x")
            load.headers["Content-Length"] = "100"
            load.metrics.bodyBytesReceived = received
            load.metrics.addresses = ["10.0.0.1", "10.0.0.2"]
            _ = record.learn(.resumed(at: 60))
            _ = record.learn(.ended(load, down: 0, up: 0))
            return record.evidence(for: .resumed)
        }
        #expect(
            try evidence(100) == "60 bytes from 10.0.0.1, the other 40 from 10.0.0.2, none twice")
        #expect(try evidence(160) == nil)
    }
}
