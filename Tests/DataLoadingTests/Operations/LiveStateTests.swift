// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

@Suite struct LiveStateTests {
    private let scene = DashboardScene()

    private func number(_ feature: [String: Any], _ name: String) -> Double? {
        ((feature["minute"] as? [String: Any])?[name] ?? feature[name]) as? Double
    }

    @Test func `a load is shown with its attempts, which begin where the clock says`() throws {
        let load = scene.nextLoad()
        scene.clock.advance(by: .milliseconds(50))
        var report = TransportReport()
        report.connectTime = .milliseconds(20)
        report.firstByteTime = .milliseconds(70)
        report.remoteAddress = "192.0.2.7"
        report.httpVersion = "2"
        scene.run(.init(status: nil, error: .connectionReset, report: report), of: load)
        scene.clock.advance(by: .milliseconds(200))
        scene.run(.init(seconds: 0.25, cause: .retry), of: load)
        // The report of the load comes later.
        scene.clock.advance(by: .milliseconds(10))
        scene.end(load, bytes: 42, late: .milliseconds(10)) { metrics in
            metrics.totalTime = .milliseconds(600)
            metrics.admissionTime = .milliseconds(50)
            metrics.backOffTime = .milliseconds(200)
        }
        let shown = try #require(scene.loads()?.loads.first)
        let start = scene.clock.date.timeIntervalSince1970 - 0.61
        #expect(shown["started"] as? Double == (start * 1_000).rounded() / 1_000)
        #expect(shown["seconds"] as? Double == 0.6)
        #expect(
            shown["waits"] as? [String: Double] == [
                "slot": 0.05, "authorisation": 0, "backOff": 0.2,
            ])
        #expect(shown["bytes"] as? [String: Int] == ["down": 42, "up": 0])
        let attempts = try #require(shown["attempts"] as? [[String: Any]])
        #expect(attempts.map { $0["start"] as? Double } == [0.05, 0.35])
        #expect(attempts.map { $0["seconds"] as? Double } == [0.1, 0.25])
        #expect(attempts.map { $0["error"] as? String } == ["connection_reset", nil])
        #expect(attempts.map { $0["status"] as? Int } == [nil, 200])
        #expect(attempts.map { $0["cause"] as? String } == [nil, "retry"])
        #expect(attempts[0]["connect"] as? Double == 0.02)
        #expect(attempts[0]["firstByte"] as? Double == 0.07)
        #expect(attempts[0]["address"] as? String == "192.0.2.7")
        #expect(attempts[0]["version"] as? String == "2")
    }

    @Test func `a load that ends in a wait began as long before as it took`() throws {
        let load = scene.nextLoad()
        scene.run(.init(status: nil, error: .dns), of: load)
        scene.clock.advance(by: .seconds(5))
        scene.end(load, status: nil, error: .cancelled) { $0.totalTime = .milliseconds(5_100) }
        let shown = try #require(scene.loads()?.loads.first)
        let attempts = try #require(shown["attempts"] as? [[String: Any]])
        #expect(attempts.map { $0["start"] as? Double } == [0])
        #expect(shown["outcome"] as? String == "cancelled")
        #expect(shown["error"] == nil)
    }

    @Test func `of many attempts the first and the last seven are kept`() throws {
        let load = scene.nextLoad()
        for status in 500..<520 {
            scene.run(.init(status: HTTPStatus(rawValue: status)), of: load)
        }
        scene.end(load)
        let shown = try #require(scene.loads()?.loads.first)
        let attempts = try #require(shown["attempts"] as? [[String: Any]])
        #expect(attempts.map { $0["status"] as? Int } == [500] + Array(513..<520))
        #expect(shown["attemptsLeftOut"] as? Int == 12)
    }

    @Test func `loads come in batches of fifty, and the last 200 are kept`() {
        #expect(scene.loads() == nil)
        scene.load(230)
        var sizes: [Int] = []
        var first: [Int] = []
        var last: Int64 = 0
        while let batch = scene.loads(after: last) {
            sizes.append(batch.loads.count)
            first.append(batch.loads.first?["number"] as? Int ?? -1)
            last = batch.last
        }
        #expect(sizes == [50, 50, 50, 50])
        #expect(first == [31, 81, 131, 181])
        #expect(last == 230)
        // A number of a process before this one.
        #expect(scene.loads(after: 5_000)?.loads.first?["number"] as? Int == 31)
    }

    @Test func `attempts of 2,048 loads wait for their end, and those of the oldest are dropped`()
        throws
    {
        var pending = PendingAttempts()
        let attempt = LiveAttempt(.make())
        for load in 1...5_000 { pending.add(attempt, of: Int64(load)) }
        #expect(pending.count > PendingAttempts.maxLoads / 2)
        #expect(pending.count <= PendingAttempts.maxLoads)
        #expect(pending.take(5_000 - 2_048).kept.isEmpty)
        #expect(pending.take(5_000 - 1_023).kept.count == 1)
        // Loads that end at once do not push out one that lasts.
        for load in 10_000..<30_000 {
            pending.add(attempt, of: Int64(load))
            _ = pending.take(Int64(load))
        }
        #expect(pending.take(5_000).kept.count == 1)
    }

    @Test func `an authoriser's own load has no URL, and other URLs have no query`() throws {
        let load = scene.nextLoad()
        scene.run(.init(isInternal: true), of: load)
        scene.end(load, url: "https://auth.test/token?password=secret")
        scene.load(1)
        // One that the core marks, and whose attempts are not known.
        scene.end(scene.nextLoad(), url: "https://auth.test/token?password=secret") {
            $0.isInternal = true
        }
        let bytes = try #require(scene.state.loads(after: 0)).data
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(!text.contains("auth.test"))
        let loads = try #require(scene.loads()).loads
        #expect(loads.map { $0["url"] as? String } == [nil, "https://api.test/a?…", nil])
        #expect(loads.map { $0["internal"] as? Bool } == [true, nil, true])
    }

    @Test func `a feature has rates of ten seconds, and times and waits of a minute`() throws {
        scene.load(100)
        for _ in 0..<10 {
            scene.end(scene.nextLoad(), status: 503, error: .status(503)) { metrics in
                metrics.totalTime = .seconds(2)
                metrics.backOffTime = .seconds(1)
            }
        }
        scene.clock.advance(by: .seconds(1))
        let feature = try #require(scene.features.first)
        #expect(feature["name"] as? String == "feed")
        // The first nine ended in the first second.
        #expect(feature["loadsPerSecond"] as? Double == 10.1)
        #expect(number(feature, "loads") == 110)
        #expect(number(feature, "failures") == 10)
        #expect(number(feature, "backOff") == 10)
        #expect(abs((number(feature, "p50") ?? 0) - 0.1) < 0.015)
        #expect(abs((number(feature, "p99") ?? 0) - 2) < 0.25)
        #expect(feature["lastError"] as? String == "503")
        scene.clock.advance(by: .seconds(60))
        let later = try #require(scene.features.first)
        #expect(later["loadsPerSecond"] as? Double == 0)
        #expect(number(later, "loads") == 0)
        #expect(number(later, "p50") == nil)
        #expect((later["bytes"] as? String)?.count == 60)
        #expect((later["bytes"] as? String)?.contains("z") == true)
        scene.clock.advance(by: .seconds(600))
        #expect(scene.features.first?["bytes"] as? String == String(repeating: "0", count: 60))
    }

    @Test func `the 33rd feature and those after it are one`() {
        for index in 0..<40 { scene.load(1, feature: "feature \(index)") }
        #expect(scene.features.count == 33)
        let other = scene.features.first { $0["name"] as? String == "_OTHER" }
        #expect(other.flatMap { number($0, "loads") } == 8)
    }

    @Test func `without a service the snapshot says so`() {
        #expect(scene.sentence == "No service runs.")
        #expect(scene.snapshot["service"] == nil)
        scene.state.show({ .make() }, log: { LogState(dropped: 7) })
        #expect(scene.sentence == "No loads yet. Nothing is held or left out.")
        #expect((scene.snapshot["totals"] as? [String: Any])?["logLinesDropped"] as? Int == 7)
    }
}

extension AttemptRecord {
    /// An attempt about which nothing matters.
    fileprivate static func make() -> AttemptRecord {
        AttemptRecord(
            context: AttemptContext(), reportedLoad: nil, method: .get,
            url: testURL("https://api.test/"), template: nil, host: .other, parent: nil, span: nil,
            begun: Instant(nanoseconds: 0),
            ended: Instant(nanoseconds: 1), date: Date(timeIntervalSince1970: 0), status: 200,
            error: nil, report: TransportReport())
    }
}
