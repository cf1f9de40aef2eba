// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One client's part of a round, in a child process: its usage is its own, and no state leaks.
struct ChildRun: Codable, Sendable {
    let contestant: Contestant
    let url: String
    let concurrency: Int
    let requests: Int

    /// The result of a child.
    struct Outcome: Codable, Sendable {
        /// Milliseconds of processor time for 1,000 loads.
        let cost: Double
        /// Loads per second.
        let throughput: Double
        /// The peak of its memory, in KiB.
        let peakMemory: Int
        /// The number of failed loads.
        let failures: Int
    }

    /// The share of loads that opens connections and fills caches and is not measured.
    private static let warmUpShare = 10

    /// Starts a child and returns its result.
    func start() throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let job = try JSONEncoder().encode(self)
        process.arguments = ["--child", String(decoding: job, as: UTF8.self)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Complaint("\(contestant.rawValue) ended with \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(Outcome.self, from: text)
    }

    /// Does the work, in the child.
    func perform() async throws -> Outcome {
        let workload = Workload(url: url, concurrency: concurrency)
        guard let client = contestant.makeClient(workload) else {
            throw Complaint("\(contestant.rawValue) is not there")
        }
        var failures = await client.run(max(requests / Self.warmUpShare, 2 * concurrency))
        let (before, start) = (Usage.now, ContinuousClock.now)
        failures += await client.run(requests)
        let (after, elapsed) = (Usage.now, ContinuousClock.now - start)
        let thousands = Double(requests) / 1_000
        return Outcome(
            cost: (after.processorTime - before.processorTime) * 1_000 / thousands,
            throughput: Double(requests) / (elapsed / .seconds(1)),
            peakMemory: after.peakMemory, failures: failures)
    }
}
