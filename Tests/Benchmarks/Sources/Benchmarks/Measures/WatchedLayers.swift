// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CAllocations
import DataLoadingOperations

/// What a load above the transport costs more when its service is watched.
struct WatchedLayers: Measure {
    let options: Options

    static let number = 20
    private static let concurrency = 32
    private static let requestsPerRound = 64_000
    private static let ways: [Watching] = [.nothing, .metrics, .log]

    func run() async throws -> [Figure] {
        let requests = options.requests ?? Self.requestsPerRound
        var samples = Samples()
        for _ in 0..<options.rounds {
            for way in Self.ways { try await take(way, requests, into: &samples) }
        }
        return samples.figures(of: Self.number)
    }

    private func take(_ way: Watching, _ requests: Int, into samples: inout Samples) async throws {
        let transport = HeldTransport(bodySize: 1_024)
        let workload = Workload(url: "http://127.0.0.1/body", concurrency: Self.concurrency)
        guard
            let client = DataLoadingClient(
                workload, transport: transport, watching: way.configuration(log: "/dev/null"))
        else { throw Complaint("the client cannot be made") }
        await client.load(requests / 4, from: transport)
        let before = Usage.now
        await client.load(requests, from: transport)
        let used = (Usage.now.processorTime - before.processorTime) * 1e6 / Double(requests)
        let name = Contestant.dataLoading.rawValue
        samples.add(used, "us/load", of: name, scene: way.rawValue, c: Self.concurrency)
        allocations_begin()
        await client.load(requests, from: transport)
        let allocations = Double(allocations_end()) / Double(requests)
        samples.add(
            allocations, "allocations/load", of: name, scene: way.rawValue, c: Self.concurrency)
        await client.operations?.shutDown(gracePeriod: .seconds(5))
    }
}
