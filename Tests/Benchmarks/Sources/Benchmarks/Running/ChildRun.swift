// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One client's part of a round, in a child process: its usage is its own, and no state leaks.
struct ChildRun: ChildWork {
    let contestant: Contestant
    let workload: Workload
    let requests: Int

    /// The result of a child.
    struct Outcome: Codable, Sendable {
        /// Milliseconds of processor time for 1,000 loads.
        let cost: Double
        /// Loads per second.
        let throughput: Double
        /// The peak of its memory, in KiB.
        let peakMemory: Int
        /// How often its threads waited for each load.
        let waits: Double
        /// The number of failed loads.
        let failures: Int
    }

    /// The share of loads that opens connections and fills caches and is not measured.
    private static let warmUpShare = 10

    static let option = "--child"

    func perform() async throws -> Outcome {
        if workload.idle != nil { ProcessStatus.raiseDescriptorLimit() }
        guard let client = contestant.makeClient(workload) else {
            throw Complaint("\(contestant.rawValue) is not there")
        }
        let warmUp = max(requests / Self.warmUpShare, 2 * workload.concurrency)
        var failures = 0
        if let idle = workload.idle {
            // What it costs to start these loads does not count; some clients start them in `run`.
            client.hold(idle)
            failures += await client.run(4 * idle.count)
            try ProcessStatus.waitForDescriptors(idle.count)
            ProcessStatus.waitUntilQuiet()
        }
        failures += await client.run(warmUp)
        let (before, start) = (Usage.now, ContinuousClock.now)
        failures += await client.run(requests)
        let (after, elapsed) = (Usage.now, ContinuousClock.now - start)
        let thousands = Double(requests) / 1_000
        return Outcome(
            cost: (after.processorTime - before.processorTime) * 1_000 / thousands,
            throughput: Double(requests) / (elapsed / .seconds(1)),
            peakMemory: after.peakMemory,
            waits: Double(after.waits - before.waits) / Double(requests), failures: failures)
    }
}

extension ChildRun {
    private enum Keys: CodingKey {
        case contestant, requests
    }

    /// The fields of the workload are beside the others.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Keys.self)
        contestant = try fields.decode(Contestant.self, forKey: .contestant)
        requests = try fields.decode(Int.self, forKey: .requests)
        workload = try Workload(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try workload.encode(to: encoder)
        var fields = encoder.container(keyedBy: Keys.self)
        try fields.encode(contestant, forKey: .contestant)
        try fields.encode(requests, forKey: .requests)
    }
}
