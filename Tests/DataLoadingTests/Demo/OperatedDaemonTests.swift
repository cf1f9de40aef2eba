// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting
import Foundation
import Testing

@testable import FeedDaemon

#if os(Linux)
    extension SocketTests {
        /// `FeedDaemon --operations`, as systemd runs it.
        @Suite struct OperatedDaemonTests {
            private let directory = TemporaryDirectory()

            @Test func `FeedDaemon tells systemd of its start, its reloads and its end`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("news") }
                let listener = try #require(NotifyListener(directory.url("notify").path))
                let file = directory.url("feeds.json")
                @Sendable func write(_ rate: String, interval: Double = 0.05) throws {
                    let text = """
                        {"features": [{"name": "news", "urls": ["\(server.url("/news"))"],
                                       "interval": \(interval)}],
                         "rates": {"urls": {"\(server.url("/"))": \(rate)}}}
                        """
                    try Data(text.utf8).write(to: file)
                }
                try write("1000")
                let messages = EventRecorder<String>()
                let run = try await DemoProcess.run(
                    "FeedDaemon", ["--operations", "--quiet", "--config", file.path],
                    listener.environment.merging(["WATCHDOG_USEC": "2000000"]) { $1 }
                ) { process, _ in
                    /// Waits for a number of messages other than those of the watchdog.
                    func wait(for count: Int) throws {
                        var left = count
                        while left > 0 {
                            let next = try #require(listener.next())
                            messages.record(next)
                            if next != "WATCHDOG=1" { left -= 1 }
                        }
                    }
                    try wait(for: 1)
                    let limits = try String(
                        contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
                    #expect(limits.contains(#/Max core file size +0 +0 /#))
                    for content in ["2000", "}", "\"fast\""] {
                        try write(content, interval: content == "2000" ? 0.06 : 0.05)
                        kill(process, SIGHUP)
                        try wait(for: 3)
                    }
                    while !messages.elements.contains("WATCHDOG=1") {
                        messages.record(try #require(listener.next()))
                    }
                    kill(process, SIGTERM)
                    try wait(for: 2)
                }
                #expect(run.status == 0)
                let told = messages.elements.map { $0.split(separator: "\n").first ?? "" }
                #expect(told.contains("WATCHDOG=1"))
                let path = file.path
                #expect(
                    told.filter { $0 != "WATCHDOG=1" } == [
                        "READY=1",
                        "RELOADING=1", "READY=1",
                        "STATUS=has read \(path); for the next start: features",
                        "RELOADING=1", "READY=1",
                        "STATUS=keeps its configuration: \(path): line 3, column \(column(of: server)): this is not JSON",
                        "RELOADING=1", "READY=1",
                        "STATUS=keeps its configuration: \(path): rates.urls[\"\(server.url("/"))\"] must be a number, not a string",
                        "STOPPING=1", "EXTEND_TIMEOUT_USEC=36000000",
                    ])
                #expect(run.output.contains("keeps its configuration: \(path): line 3, column "))
                #expect(run.output.contains("daemon        ends: SIGTERM"))
            }

            /// Where the brace is that is no rate.
            private func column(of server: LoopbackServer) -> Int {
                " \"rates\": {\"urls\": {\"\(server.url("/"))\": ".utf8.count + 1
            }

            @Test func `the embedded run ends without a signal only if it is not operated`()
                async throws
            {
                let listener = try #require(NotifyListener(directory.url("notify").path))
                let run = try await DemoProcess.run(
                    "FeedDaemon", ["--operations", "--quiet", "--duration", "1"],
                    listener.environment
                ) { _, _ in _ = try #require(listener.next()) }
                #expect(run.status == 0)
                #expect(run.output.contains("operations    kill -HUP "))
                #expect(run.output.contains("daemon        ends: its time is over"))
                #expect(listener.rest().map { $0.prefix(11) } == ["STOPPING=1", "EXTEND_TIME"])
            }

            @Test func `the log of an operated daemon is that of its operations`() async throws {
                let run = try await DemoProcess.run(
                    "FeedDaemon", ["--operations", "--json", "--duration", "0.5"])
                #expect(run.status == 0)
                let lines = run.errors.split(separator: "\n")
                #expect(lines.contains { $0.contains("\"source\":\"thumbnails\"") })
                #expect(lines.allSatisfy { $0.hasPrefix("{\"time\":\"") })
            }

            @Test(arguments: [
                (#"{"a": 1,,}"#, "line 1, column 9"), ("{\n\n  \"a\" 1\n}", "line 3, column 7"),
                ("{\n", "line 2, column 1"), ("", "line 1, column 1"),
                ("{\"é\": x}", "line 1, column 8"),
            ])
            func `the place where a text stops being JSON is told`(text: String, place: String)
                throws
            {
                #expect("\(try #require(JSONPlace(of: Data(text.utf8))))" == place)
            }

            @Test func `a text that is JSON has no such place`() {
                #expect(JSONPlace(of: Data("{\"a\": [1, null]}".utf8)) == nil)
                #expect(JSONPlace(of: Data("3".utf8)) == nil)
            }
        }
    }
#endif
