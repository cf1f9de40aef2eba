// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Loads that begin at a fixed rate, however long those before take, in a child process.
struct PacedRun: ChildWork {
    let contestant: Contestant
    let workload: Workload
    let requestsPerSecond: Double
    let requests: Int

    /// The result of a child, in microseconds from when a load was due.
    struct Outcome: Codable, Sendable {
        let median: Double
        let percentile99: Double
    }

    static let option = "--child-paced"

    func perform() async throws -> Outcome {
        guard let client = contestant.makeClient(workload) as? any SingleClient else {
            throw Complaint("\(contestant.rawValue) loads no single URL")
        }
        let loads = PacedLoads(client: client, perSecond: requestsPerSecond)
        _ = await loads.latencies(requests / 10)
        let latencies = await loads.latencies(requests)
        guard latencies.count == requests else { throw Complaint("loads failed") }
        return Outcome(
            median: latencies[requests / 2], percentile99: latencies[requests * 99 / 100])
    }
}
