// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import FeedDaemon

@Suite struct FeedDaemonTests {
    @Test func `the daemon ends by itself, with a table, and exits with 0`() async throws {
        let run = try await FeedDaemonProcess.run("--duration", "1")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(run.output.contains("FeedDaemon ran for "))
        for name in ["catalogue", "artwork", "events", "session", "all"] {
            #expect(run.output.split(separator: "\n").contains { $0.hasPrefix(name) })
        }
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM])
    func `a signal ends the daemon in order, an hour before its time`(signal: Int32) async throws {
        let run = try await FeedDaemonProcess.run("--duration", "3600", signal: signal)
        #expect(run.status == 0)
        #expect(run.output.contains("FeedDaemon ran for "))
        #expect(!run.output.contains("FeedDaemon ran for 3600"))
    }

    @Test func `the daemon logs a line of JSON for each load where it was asked to`() async throws {
        let run = try await FeedDaemonProcess.run("--log-json", "--duration=0.3")
        let lines = run.errors.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(throws: Never.self) { try JSONReader.read(String(line)) }
        }
        #expect(!run.errors.contains("first-token"))
    }

    @Test func `the daemon explains its arguments`() async throws {
        let run = try await FeedDaemonProcess.run("--help")
        #expect(run.status == 0)
        #expect(run.output == Usage.text + "\n")
    }

    @Test(arguments: [["--nonsense"], ["--duration", "soon"], ["--config", "/nowhere/at/all"]])
    func `a mistake in the arguments is told, with status 2`(words: [String]) async throws {
        let run = try await FeedDaemonProcess.run(words[0], words.count > 1 ? words[1] : "-h")
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("FeedDaemon: "))
    }

    @Test func `a mistake in the file is told with its place, with status 2`() async throws {
        let directory = TemporaryDirectory()
        let text = "{\n  \"features\": [,]\n}"
        let file = try directory.write(Data(text.utf8), to: "configuration.json")
        let run = try await FeedDaemonProcess.run("--config", file.path())
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("FeedDaemon: \(file.path()):2:16: "))
    }

    @Test func `the example of the help is a configuration`() throws {
        let start = try #require(Usage.text.range(of: "  {\n"))
        let end = try #require(Usage.text.range(of: "\n  }", options: .backwards))
        let example = Usage.text[start.lowerBound..<end.upperBound]
            .replacingOccurrences(of: "\"environment\": \"FEED_TOKEN\"", with: "\"value\": \"x\"")
        #expect(try ConfigurationFile.configuration(in: example).features.count == 2)
    }
}
