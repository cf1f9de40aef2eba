// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Loads that begin at a fixed rate, however long those before take, in a child process.
struct PacedRun: ChildWork {
    let contestant: Contestant
    let workload: Workload
    let requestsPerSecond: Double
    let requests: Int

    static let option = "--child-paced"

    func perform() async throws -> PacedLoads.Latencies {
        guard let client = contestant.makeClient(workload) as? any SingleClient else {
            throw Complaint("\(contestant.rawValue) loads no single URL")
        }
        let loads = PacedLoads(client: client, perSecond: requestsPerSecond)
        await loads.warmUp(for: requests)
        return try await loads.latencies(requests)
    }
}
