// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Loads by several contestants that take turns, each in a child process.
struct Turns {
    /// What one contestant does in each round.
    struct Entry {
        let contestant: Contestant
        var scene: String?
        /// What the figures carry as `c`; nil for the concurrency.
        var c: Int?
        let workload: Workload
        let requests: Int
    }

    let options: Options

    /// Each round runs every entry once, so that a busy moment of the machine affects all.
    func run(_ entries: [Entry], into samples: inout Samples) throws {
        for _ in 0..<options.rounds {
            for entry in entries { try run(entry, into: &samples) }
        }
    }

    /// Runs an entry once.
    func run(_ entry: Entry, into samples: inout Samples) throws {
        let outcome = try ChildRun(
            contestant: entry.contestant, workload: entry.workload, requests: entry.requests
        ).start()
        let name = entry.contestant.rawValue
        guard outcome.failures == 0 else {
            throw Complaint("\(name): \(outcome.failures) loads failed")
        }
        let c = entry.c ?? entry.workload.concurrency
        samples.add(outcome.cost, "ms/1000", of: name, scene: entry.scene, c: c)
        samples.add(outcome.throughput, "loads/s", of: name, scene: entry.scene, c: c)
        let memory = Double(outcome.peakMemory) / 1_024
        samples.add(memory, "MiB peak", of: name, scene: entry.scene, c: c)
    }
}
