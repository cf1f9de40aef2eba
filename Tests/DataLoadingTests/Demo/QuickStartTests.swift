// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct QuickStartTests {
    @Test(.timeLimit(.minutes(5)))
    func `QuickStart loads a value and a stream, logs each load, and ends by itself`() async throws
    {
        let run = try await DemoProcess.run("QuickStart")
        #expect(run.status == 0)
        let lines = run.output.split(separator: "\n")
        #expect(lines.contains("prices: a scone costs 4.0"))
        #expect(lines.contains { $0.hasPrefix("events: \"open\\n") })
        #expect(lines.last == "QuickStart has ended")
        let log = run.errors.split(separator: "\n")
        #expect(log.contains { $0.hasPrefix("prices GET http://127.0.0.1:") })
        #expect(log.contains { $0.hasPrefix("events GET http://127.0.0.1:") })
    }

    @Test(.timeLimit(.minutes(5)))
    func `SIGTERM ends QuickStart in order`() async throws {
        let run = try await DemoProcess.run("QuickStart", signal: SIGTERM)
        #expect(run.status == 0)
        #expect(run.output.contains("QuickStart has ended\n"))
        // Its features load once a second, and it was ended after the first line of its log.
        let loads = run.errors.split(separator: "\n").count
        #expect(loads < 6)
    }
}
