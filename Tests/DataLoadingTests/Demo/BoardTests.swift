// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

@testable import FeedDaemon

@Suite struct BoardTests {
    private let begun = ContinuousClock.now

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

    @Test func `counts each load once, by how it ended`() throws {
        var board = Board(features: ["news"], addresses: [:], begun: begun)
        for error in [nil, .cancelled, .connectRefused, .connectRefused] as [DataLoaderError?] {
            _ = board.learn(.ended(try response(error), down: 10, up: 1))
        }
        let tally = board.tally(of: "news")
        #expect(tally.loads == 4)
        #expect(tally.succeeded == 1)
        #expect(tally.cancelled == 1)
        #expect(tally.failed == 2)
        #expect(tally.failures == ["connect_refused": 2])
        #expect(tally.attempts == 12)
        #expect(tally.retries == 4)
        #expect(tally.reauthorised == 4)
        #expect(tally.bytesDown == 40)
        #expect(tally.meanWait == .seconds(1))
        #expect(board.total == tally)
    }

    @Test func `sees a failover and a return, and no other in what was sent before`() throws {
        var board = Board(
            features: [], addresses: ["a.test": ["10.0.0.1", "10.0.0.2"]], begun: begun)
        func note(_ address: String, sentAt sent: Int, endedAt ended: Int) throws -> String? {
            let load = try response(from: address, total: .seconds(ended - sent))
            let now = begun + .seconds(ended)
            return board.learn(.ended(load, down: 0, up: 0), at: now).first?.what
        }
        #expect(try note("10.0.0.1", sentAt: 0, endedAt: 1) == nil)
        #expect(try note("10.0.0.2", sentAt: 2, endedAt: 3) == "fails over to 10.0.0.2")
        #expect(try note("10.0.0.1", sentAt: 1, endedAt: 4) == nil)
        #expect(try note("10.0.0.2", sentAt: 4, endedAt: 5) == nil)
        #expect(try note("10.0.0.1", sentAt: 6, endedAt: 7) == "is back at 10.0.0.1")
        #expect(try note("10.0.0.2", sentAt: 6, endedAt: 9) == nil)
        #expect(board.findings.firstFailover?.at == .seconds(3))
        #expect(board.findings.firstReturn?.at == .seconds(7))
    }

    @Test func `says once that a request fails, and once that it works again`() throws {
        var board = Board(features: ["news"], addresses: [:], begun: begun)
        let errors: [DataLoaderError?] = [
            nil, .dns, .dns, .cancelled, .connectRefused, .connectRefused, nil, nil,
        ]
        let notes = try errors.flatMap {
            board.learn(.ended(try response($0), down: 0, up: 0)).map(\.what)
        }
        #expect(
            notes == [
                "GET http://a.test/x fails: dns", "GET http://a.test/x fails: connect_refused",
                "GET http://a.test/x works again",
            ])
    }

    @Test func `tells a closed gate from a rate that is merely low`() throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: 0.1)
        let url = try #require(URL(string: "http://a.test"))
        let feature = FeedConfiguration.Feature(name: "news", urls: [url], interval: .seconds(1))
        var gates = GateWatch(limiter: limiter)
        #expect(gates.look(at: feature) == nil)
        limiter.setRetryAfter(.seconds(60), for: url)
        guard case .closed("news", let time) = gates.look(at: feature) else {
            Issue.record("not seen")
            return
        }
        #expect(time > .seconds(50))
        #expect(gates.look(at: feature) == nil)
        #expect(gates.isHeld(feature))
    }

    @Test func `the summary says what was not seen only where it was to be seen`() {
        let board = Board(features: ["news"], addresses: [:], begun: begun)
        func lines(expectsAll: Bool) -> [String] {
            Summary(
                board: board, elapsed: .seconds(1), limits: [:], expectsAll: expectsAll
            ).lines
        }
        #expect(!lines(expectsAll: false).contains { $0.contains("not seen") })
        #expect(lines(expectsAll: true).filter { $0.hasSuffix("not seen in this run") }.count == 7)
    }
}
