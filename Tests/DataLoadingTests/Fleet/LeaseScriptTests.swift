// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoading
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// The script in a real server against the same rules in Swift, which `SharedQuota` has.
        @Suite(.enabled(if: RedisServer.isInstalled)) struct LeaseScriptTests {
            private static let script = withTimeOfTest(.lease)
            private static let closeScript = withTimeOfTest(.closeLine)

            /// A script with the time of the test in place of the server's.
            private static func withTimeOfTest(_ script: RedisScript) -> RedisScript {
                RedisScript(
                    script.name,
                    script.source.replacingOccurrences(
                        of: "redis.call('TIME')", with: "{ ARGV[#ARGV - 1], ARGV[#ARGV] }"),
                    digest: "")
            }

            private static let cases =
                ProcessInfo.processInfo.environment["PROPERTY_CASES"].flatMap { Int($0) } ?? 4_000

            @Test func `the script and the rules in Swift agree to a microsecond`() async throws {
                let redis = try RedisServer()
                let client = RedisClient.make(redis.endpoint)
                var random = SeededGenerator(seed: 13)
                var line = QuotaLine()
                var now = 1_767_225_600_000_000
                var keys = ["line", "askers"]
                for number in 0..<Self.cases {
                    if Int.random(in: 0..<200, using: &random) == 0 {
                        line = QuotaLine()
                        keys = ["line \(number)", "askers \(number)"]
                    }
                    now +=
                        [0, 1, 777, 10_000, 250_000, 3_000_000].randomElement(using: &random) ?? 0
                    // A clock that is set back.
                    if Int.random(in: 0..<50, using: &random) == 0 { now -= 5_000_000 }
                    let time = ["\(now / 1_000_000)", "\(now % 1_000_000)"]
                    if Int.random(in: 0..<30, using: &random) == 0 {
                        let delay =
                            [50_000, 1_000_000, 4_000_000].randomElement(using: &random) ?? 1
                        line.close(for: Double(delay), at: Double(now))
                        _ = try await client.run(
                            Self.closeScript, keys: keys, arguments: ["\(delay)", "0"] + time)
                    }
                    var question = QuotaLine.Question(
                        member: "m\(Int.random(in: 0..<8, using: &random))",
                        interval: [200.0, 1e6 / 3, 10_000, 100_000, 2e6].randomElement(
                            using: &random)
                            ?? 1,
                        want: Int.random(in: 0...20, using: &random))
                    question.burst = Int.random(in: 1...6, using: &random)
                    question.patience =
                        [nil, 0, 50_000, 4_000_000].randomElement(using: &random) ?? nil
                    question.window =
                        [10_000.0, 100_000, 1e6].randomElement(using: &random) ?? 100_000
                    question.lead = [0, 0, 90_000.0, 9e9].randomElement(using: &random) ?? 0
                    question.hint = Int.random(in: 1...16, using: &random)
                    // A clock that is set forward, or a daemon that knows the time badly.
                    let lateness = [nil, 0, 400_000, 600_000, 3_600_000_000]
                    let late = lateness.randomElement(using: &random)
                    question.asked = late?.map { Double(now - $0) }
                    let reply = try await client.run(
                        Self.script, keys: keys,
                        arguments: [
                            question.member, "\(question.interval)", "\(question.burst)",
                            "\(question.want)",
                            question.patience.map { "\(Int($0))" } ?? "-1",
                            "\(Int(question.window))",
                            "\(Int(question.lead))", "\(question.hint)",
                            "\(question.asked.map { Int($0) } ?? 0)",
                        ] + time)
                    let numbers = reply.elements?.compactMap(\.number) ?? []
                    let answer = line.answer(question, at: Double(now))
                    let expected = [answer.start, Int64(answer.granted), answer.gate, answer.lead]
                    try #require(numbers.count == 4)
                    let isSame = zip(numbers, expected).allSatisfy { abs($0 - $1) <= 1 }
                    try #require(
                        isSame, "case \(number): \(question) gave \(numbers), not \(expected)")
                }
                await client.shutDown()
            }

            @Test func `what a server that stood still is asked late closes nothing`() async throws
            {
                let redis = try RedisServer()
                let client = RedisClient.make(redis.endpoint)
                // Asked in 1970.
                let line = try await client.run(
                    .closeLine, keys: ["line", "askers"], arguments: ["1000000", "1"])
                let gate = try await client.run(
                    .closeGate, keys: ["gates"], arguments: ["key", "1000000", "1"])
                #expect(line == .number(-1) && gate == .number(-1))
                #expect(
                    try await client.run(RedisCommand("EXISTS", "line", "gates")) == .number(0))
                await client.shutDown()
            }

            @Test func `the digests of all scripts are those that the server computes`()
                async throws
            {
                let redis = try RedisServer()
                let client = RedisClient.make(redis.endpoint)
                for script in [RedisScript.lease, .closeLine, .closeGate, .heartbeat, .goodbye] {
                    let digest = try await client.run(RedisCommand("SCRIPT", "LOAD", script.source))
                        .text
                    #expect(digest == script.digest)
                }
                await client.shutDown()
            }
        }
    }
#endif
