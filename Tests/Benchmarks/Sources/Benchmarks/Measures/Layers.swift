// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CAllocations

/// What a load costs above the transport, in processor time and allocations.
struct Layers: Measure {
    let options: Options

    static let number = 6
    private static let concurrency = 32
    private static let requestsPerRound = 64_000

    func run() async throws -> [Figure] {
        let transport = HeldTransport(bodySize: 1_024)
        let workload = Workload(url: "http://127.0.0.1/body", concurrency: Self.concurrency)
        guard let client = DataLoadingClient(workload, transport: transport) else {
            throw Complaint("the client cannot be made")
        }
        let requests = options.requests ?? Self.requestsPerRound
        await client.load(requests, from: transport)
        var samples = Samples()
        let name = Contestant.dataLoading.rawValue
        for _ in 0..<options.rounds {
            let before = Usage.now
            await client.load(requests, from: transport)
            let used = (Usage.now.processorTime - before.processorTime) * 1e6 / Double(requests)
            samples.add(used, "us/load", of: name, c: Self.concurrency)
            allocations_begin()
            await client.load(requests, from: transport)
            let allocations = Double(allocations_end()) / Double(requests)
            samples.add(allocations, "allocations/load", of: name, c: Self.concurrency)
        }
        return samples.figures(of: Self.number)
    }
}
