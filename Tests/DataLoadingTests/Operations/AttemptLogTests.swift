// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// The lines of attempts in a log.
@Suite(.timeLimit(.minutes(30))) struct AttemptLogTests {
    private typealias Line = [String: any Sendable]

    private let directory = TemporaryDirectory()

    private func scene(
        _ answers: [ScriptedAnswer], keepsOneIn: Int = 1, includesAttempts: Bool = true
    ) throws -> TelemetryScene {
        try TelemetryScene(answers) {
            var log = AccessLog(.json, to: .file(directory.url("log").path))
            log.includesAttempts = includesAttempts
            log.keepsOneIn = keepsOneIn
            $0.log = log
        }
    }

    /// Ends a scene; returns the lines of its log.
    private func lines(of scene: TelemetryScene) async throws -> [Line] {
        await scene.operations.shutDown(gracePeriod: .zero)
        let text = try String(contentsOf: directory.url("log"), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: any Sendable])
        }
    }

    private func texts(_ lines: [Line], _ key: String) -> [String?] {
        lines.map { line in line[key].map { "\($0)" } }
    }

    @Test func `each attempt has a line that says why it was made, before the line of its load`()
        async throws
    {
        let scene = try scene([
            .respond(status: 503), .fail(.connectionReset),
            .respond(status: 302, headers: ["Location": "/b?token=secret"]),
        ])
        await scene.load("/a?key=secret") { $0.retryPolicy = .immediately(maximumRetries: 2) }
        let lines = try await lines(of: scene)
        #expect(
            texts(lines, "kind") == ["attempt", "attempt", "attempt", "attempt", nil])
        #expect(texts(lines, "resend") == ["0", "1", "2", "3", nil])
        #expect(texts(lines, "cause") == [nil, "retry", "retry", "redirect", nil])
        #expect(texts(lines, "status") == ["503", nil, "302", "200", "200"])
        #expect(
            texts(lines, "outcome") == ["failure", "failure", "success", "success", "success"])
        #expect(texts(lines, "error.type") == ["503", "connection_reset", nil, nil, nil])
        #expect(
            texts(lines, "url") == [
                "https://api.test/a?…", "https://api.test/a?…", "https://api.test/a?…",
                "https://api.test/b?…", "https://api.test/a?…",
            ])
        #expect(Set(texts(lines, "load")).count == 1)
        #expect(texts(lines, "load").first != .some(nil))
    }

    @Test func `a line has the phases of its attempt, and its span`() async throws {
        let scene = try scene([
            .run { attempt in
                var report = TransportReport()
                report.headBytesSent = 100
                report.bodyBytesReceived = 5
                report.headBytesReceived = 50
                report.connectTime = ms(12)
                report.tlsTime = ms(34)
                report.firstByteTime = ms(56)
                report.httpVersion = "2"
                report.remoteAddress = "192.0.2.7"
                attempt.setReport(report)
                attempt.give(.respond(status: 200))
            }
        ])
        await scene.load(trace: try .sampled) { $0[option: URLTemplate.self] = "/{id}" }
        let line = try #require(try await lines(of: scene).first)
        let expected = [
            "connect": "0.012", "tls": "0.034", "first.byte": "0.056", "seconds": "0.0",
            "version": "2", "peer": "192.0.2.7", "bytes.down": "55", "bytes.up": "100",
            "url.template": "/{id}", "server": "https://api.test",
            "trace_id": "0af7651916cd43dd8448eb211c80319c",
            "span_id": scene.fields.first??.dropFirst(36).prefix(16).description,
        ]
        for (key, value) in expected { #expect(texts([line], key) == [value]) }
    }

    @Test func `of a sample, attempts that failed have lines, and others if their load has one`()
        async throws
    {
        let scene = try scene([.respond(status: 503)], keepsOneIn: 4)
        await scene.load { $0.retryPolicy = .immediately(maximumRetries: 1) }
        for _ in 0..<200 { await scene.load() }
        let lines = try await lines(of: scene)
        let attempts = lines.filter { $0["kind"] != nil }
        let loads = Set(texts(lines.filter { $0["kind"] == nil }, "load"))
        #expect((20..<100).contains(loads.count))
        #expect(texts(Array(attempts.prefix(1)), "status") == ["503"])
        #expect(Set(texts(Array(attempts.dropFirst()), "load")).subtracting(loads).isEmpty)
        #expect(loads.subtracting(texts(attempts, "load")).isEmpty)
    }

    @Test func `a path that a template hides stays hidden after a redirect to another origin`()
        async throws
    {
        let scene = try scene([
            .respond(status: 301, headers: ["Location": "https://api.test:8443/reset/secret"])
        ])
        await scene.load("/reset/secret") { $0[option: URLTemplate.self] = "/reset/{token}" }
        let lines = try await lines(of: scene)
        #expect(texts(lines, "server") == ["https://api.test", "https://api.test:8443", nil])
        #expect(Set(texts(lines, "url.template")) == ["/reset/{token}"])
        #expect(Set(texts(lines, "url")) == [nil])
    }

    @Test func `an attempt that loads share has no number of a load`() async throws {
        let scene = try scene([])
        await scene.load { $0.coalescing = .key("a") }
        let lines = try await lines(of: scene)
        #expect(texts(lines, "kind") == ["attempt", nil])
        #expect(texts(lines, "load").map { $0 == nil } == [true, false])
    }

    @Test func `a cancelled attempt says so`() async throws {
        let scene = try scene([.hold])
        let load = Task { await scene.load() }
        _ = await scene.transport.attempts(1)
        load.cancel()
        await load.value
        scene.transport.flush()
        let lines = try await lines(of: scene)
        #expect(Set(texts(lines, "outcome")) == ["cancelled"])
        #expect(texts(lines, "kind").contains("attempt"))
        #expect(Set(texts(lines, "error.type")) == [nil])
    }

    @Test(arguments: [AccessLog.Format.json, .logfmt])
    func `an attempt for an authoriser has no URL`(format: AccessLog.Format) {
        func line(_ attempt: AttemptRecord) -> String {
            let time = LogTime(attempt.date)
            let bytes = FixedBytes.array(capacity: LogLine.maxLength) { bytes in
                LogLine.writeStart(format, time, to: &bytes)
                LogLine.writeRest(attempt, at: time, format, to: &bytes)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(line(.make()).contains("api.test/secret"))
        #expect(!line(.make(isInternal: true)).contains("secret"))
    }

    @Test func `of a sample, a cancelled attempt has a line if it moved bytes or was chosen`() {
        var log = AccessLog(.json, to: .standardError)
        log.keepsOneIn = 2
        let sampling = LogSampling(log)
        var report = TransportReport()
        func kept(_ error: DataLoaderError?) -> [Int64] {
            (1...100).filter { sampling.keeps(.make(error, report, load: $0)) }
        }
        let chosen = kept(nil)
        #expect((20...80).contains(chosen.count))
        #expect(kept(.cancelled) == chosen)
        #expect(kept(.dns) == Array(1...100))
        report.headBytesSent = 1
        #expect(kept(.cancelled) == Array(1...100))
    }

    @Test func `a log has no lines of attempts unless they are asked for`() async throws {
        let scene = try scene([.respond(status: 503)], includesAttempts: false)
        await scene.load { $0.retryPolicy = .immediately(maximumRetries: 1) }
        #expect(texts(try await lines(of: scene), "kind") == [nil])
    }
}
