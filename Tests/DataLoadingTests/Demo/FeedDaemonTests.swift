// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import FeedDaemon

@Suite struct FeedDaemonTests {
    @Test(.timeLimit(.minutes(10)))
    func `FeedDaemon makes each of its findings in a run without arguments`() async throws {
        let run = try await DemoProcess.run("FeedDaemon")
        #expect(run.status == 0)
        #expect(run.output.contains("daemon        ends: the scenario is over; running loads may"))
        let report = try #require(run.output.range(of: "FeedDaemon ran for "))
        let lines = run.output[report.lowerBound...].split(separator: "\n").map(String.init)
        for name in ["catalogue", "thumbnails", "artwork", "events", "archive", "session", "all"] {
            #expect(lines.filter { $0.hasPrefix(name + " ") }.count == 2, "\(name)")
        }
        let findings = [
            "gate held": #"artwork for [0-9.]+ s.*, catalogue for [0-9.]+ s.*, by Retry-After"#,
            "failover": #"localhost from 127.0.0.1:\d+ to 127.0.0.1:\d+ at [0-9.]+ s"#,
            "resumed":
                #"\d+ bytes from 127.0.0.1:\d+, the other \d+ from 127.0.0.1:\d+, none twice"#,
            "back again": #"localhost from 127.0.0.1:\d+ to 127.0.0.1:\d+ at [0-9.]+ s"#,
            "401 recovered": #"loads refused: [1-9]\d*, tokens fetched for them: 1"#,
            "chunks": #"[1-9]\d* pieces were delivered on arrival"#,
            "dropped": #"artwork, during a load; the server saw its socket close after .*s"#,
        ]
        #expect(Set(findings.keys).union(["rate kept"]) == Set(Finding.allCases.map(\.rawValue)))
        for (name, evidence) in findings {
            let line = lines.first { $0.hasPrefix(name + "  ") }
            #expect(
                try line?.wholeMatch(of: Regex("\(name) +\(evidence)")) != nil, "\(line ?? name)")
        }
        // The thumbnails fill their rate of 8, less on a machine that is busy, and never exceed it.
        let rate = try #require(lines.first { $0.hasPrefix("rate kept  ") })
        let match = try #require(rate.firstMatch(of: /thumbnails ([0-9.]+) of 8[, ]/))
        let measured = try #require(Double(match.output.1))
        #expect((4...8).contains(measured), "\(rate)")
        #expect(!run.output.contains("not seen in this run"))
        #expect(!run.output.contains("\u{1B}"))
        #expect(!(run.output + run.errors).contains("-token"))
    }

    @Test(.timeLimit(.minutes(10)))
    func `FeedDaemon prints what features loaded, and logs each load`() async throws {
        let run = try await DemoProcess.run("FeedDaemon", ["--duration", "3600"], [:]) {
            process, output in
            try output.waitFor("/catalogue/index: \"edition\": 1, \"items\": [40 elements]")
            try output.waitFor("/thumbnails/1: 2.0 kB of image/png")
            try output.waitFor("/archive: 600.0 kB in archive.tar")
            kill(process, SIGTERM)
        }
        #expect(run.status == 0)
        let log = run.errors.split(separator: "\n")
        #expect(
            log.contains { $0.hasPrefix("catalogue GET http://localhost/catalogue/index 200 ") })
        let ended = try #require(run.output.firstMatch(of: #/\nall +([0-9]+) /#)?.output.1)
        #expect(Int(ended) == log.count)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM])
    func `a signal ends FeedDaemon in order, an hour before its time`(signal: Int32) async throws {
        let arguments = ["--duration", "3600"]
        let run = try await DemoProcess.run("FeedDaemon", arguments, signal: signal)
        #expect(run.status == 0)
        #expect(run.output.contains("FeedDaemon ran for "))
        #expect(!run.output.contains("FeedDaemon ran for 3600"))
    }

    @Test func `FeedDaemon logs a line of JSON for each load if the arguments say so`() async throws
    {
        let run = try await DemoProcess.run("FeedDaemon", ["--json", "--duration", "0.3"])
        let lines = run.errors.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        }
        #expect(
            try await DemoProcess.run("FeedDaemon", ["--quiet", "--duration", "0.3"]).errors == "")
    }

    @Test func `FeedDaemon prints its help`() async throws {
        let run = try await DemoProcess.run("FeedDaemon", ["--help"])
        #expect(run.status == 0)
        #expect(run.output == Usage.text + "\n")
    }

    @Test(arguments: [["--nonsense"], ["--duration", "soon"], ["--config", "/nowhere/at/all"]])
    func `an error in the arguments is printed, with exit status 2`(words: [String]) async throws {
        let run = try await DemoProcess.run("FeedDaemon", words)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("FeedDaemon: "))
    }

    @Test func `an error in the file is printed with its key, with exit status 2`() async throws {
        let directory = TemporaryDirectory()
        let file = try directory.write(Data(#"{"features": 3}"#.utf8), to: "configuration.json")
        let run = try await DemoProcess.run("FeedDaemon", ["--config", file.path()])
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        let message = "features must be an array, not number"
        #expect(run.errors.hasPrefix("FeedDaemon: \(file.path()): \(message)"), "\(run.errors)")
    }

    @Test func `the example in the help is a configuration`() throws {
        let start = try #require(Usage.text.range(of: "  {\n"))
        let end = try #require(Usage.text.range(of: "\n  }", options: .backwards))
        let example = Usage.text[start.lowerBound..<end.upperBound]
            .replacingOccurrences(of: "\"environment\": \"FEED_TOKEN\"", with: "\"value\": \"x\"")
        let decoded = try JSONDecoder().decode(FeedConfiguration.self, from: Data(example.utf8))
        #expect(decoded.features.count == 3)
    }
}
