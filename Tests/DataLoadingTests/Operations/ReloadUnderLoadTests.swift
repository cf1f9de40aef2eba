// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    /// A daemon that reads its file again, every 200 ms, while it is asked for 500 loads a second.
    @Suite(.timeLimit(.minutes(30))) struct ReloadUnderLoadTests {
        /// What the file has.
        private struct File: Decodable {
            let hostRate: Double
            let slowRate: Double?

            func apply(to limiter: RateLimiter) throws {
                let root = testURL("http://origin.test/")
                var settings = [
                    RateLimiter.Setting.host(of: root, requestsPerSecond: hostRate)
                ]
                if let slowRate {
                    let slow = testURL("http://slow.test/")
                    settings.append(.host(of: slow, requestsPerSecond: slowRate))
                }
                try limiter.replaceRates(settings, defaultRequestsPerSecond: nil)
            }
        }

        /// A daemon in virtual time, and the loads that it was asked for.
        private final class Daemon {
            static let step = Duration.milliseconds(2)
            let bed: TestBed
            let operations: Operations
            private(set) var paths: [String] = []

            init() throws {
                let clock = ManualClock()
                var made: Operations?
                bed = TestBed(otherwise: .respond(status: 200), clock: clock) { configuration in
                    // The slow rates let loads wait for longer than they may by default.
                    configuration.timeouts.total = .seconds(3_600)
                    made = Operations(
                        OperationsConfiguration(environment: [:]), instrumenting: &configuration,
                        timekeeper: clock.timekeeper)
                }
                operations = try #require(made)
                try operations.start(for: bed.service)
            }

            func load(_ path: String, host: String = "http://origin.test") {
                paths.append(path)
                bed.loader.perform(.make(path, host: host))
            }

            /// Lets time pass, with a load every 2 ms.
            func run(for time: Duration) {
                let end = bed.clock.elapsed + time
                while bed.clock.elapsed < end {
                    load("/\(paths.count)")
                    bed.advance(Self.step)
                }
            }

            /// Reads a file's text again; false if it has a mistake.
            func reload(_ text: String) -> Bool {
                do {
                    try operations.reload {
                        let file = try JSONDecoder().decode(File.self, from: Data(text.utf8))
                        try file.apply(to: bed.service.rateLimiter)
                    }
                    return true
                } catch {
                    return false
                }
            }

            /// How many loads of the busy host were sent within a time.
            func count(from begin: Duration, to end: Duration) -> Int {
                bed.starts.count { $0.path != "/slow" && $0.at > begin && $0.at <= end }
            }

            var isSuccessful: Double? {
                ExpositionParser.samples(of: Array(operations.exposition().body))
                    .first { $0.name == "dataloading_config_reload_successful" }?.value
            }
        }

        private static let broken = [
            #"{"hostRate": 250, "#, #"{"hostRate": "fast"}"#, #"{"hostRate": -1}"#, "",
        ]

        @Test func `100 reloads under 500 loads a second lose and double nothing`() async throws {
            let daemon = try Daemon()
            // Spaces between requests that are whole numbers of steps.
            let rates = [250.0, 50, 125, 100, 62.5]
            var windows: [(begin: Duration, rate: Double)] = []
            try #require(daemon.reload(#"{"hostRate": 100, "slowRate": 0.1}"#))
            for _ in 0..<10 { daemon.load("/slow", host: "http://slow.test") }
            daemon.run(for: .milliseconds(200))
            var vanished = Duration.zero
            for number in 0..<50 {
                let rate = rates[number % rates.count]
                let slow = number < 25 ? #", "slowRate": 0.1"# : ""
                #expect(daemon.reload(#"{"hostRate": \#(rate)\#(slow)}"#))
                #expect(daemon.isSuccessful == 1)
                if number == 25 { vanished = daemon.bed.clock.elapsed }
                windows.append((daemon.bed.clock.elapsed, rate))
                daemon.run(for: .milliseconds(200))
                // It changes nothing.
                #expect(!daemon.reload(Self.broken[number % Self.broken.count]))
                #expect(daemon.isSuccessful == 0)
                daemon.run(for: .milliseconds(200))
            }
            for window in windows {
                // The new rate holds after 100 ms, and until the next good file.
                let count = daemon.count(
                    from: window.begin + .milliseconds(100), to: window.begin + .milliseconds(400))
                #expect(abs(Double(count) - 0.3 * window.rate) <= 1.5, "\(window)")
            }
            // A rule that the file no longer has holds nothing back.
            let slow = daemon.bed.starts.filter { $0.path == "/slow" }.map(\.at)
            #expect(slow.count == 10)
            #expect(slow.count { $0 < vanished } == 2)
            #expect(slow.allSatisfy { $0 < vanished + .milliseconds(100) })
            #expect(daemon.bed.service.snapshot().rules.map(\.origin) == ["http://origin.test"])

            try daemon.bed.service.rateLimiter.replaceRates([], defaultRequestsPerSecond: nil)
            let outcomes = await daemon.bed.delegate.outcomes(daemon.paths.count)
            #expect(daemon.paths.count == 10_110)
            let failures = outcomes.filter { $0.response?.statusCode != .ok }
            #expect(failures.count == 0, "\(failures.prefix(3))")
            let sent = daemon.bed.starts.map(\.path)
            #expect(sent.count == daemon.paths.count)
            #expect(Set(sent) == Set(daemon.paths))
            daemon.bed.expectNothingLeft()
            #expect(daemon.bed.delegate.events.count { $0.isTerminal } == daemon.paths.count)
            await daemon.operations.shutDown(gracePeriod: .zero)
        }
    }
#endif
