// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CAllocations

/// What a load costs above the transport, in processor time and allocations.
struct Layers {
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
        var times: [Double] = []
        var allocations: [Double] = []
        for _ in 0..<options.rounds {
            let before = Usage.now
            await client.load(requests, from: transport)
            let used = Usage.now.processorTime - before.processorTime
            times.append(used * 1e6 / Double(requests))
            allocations_begin()
            await client.load(requests, from: transport)
            allocations.append(Double(allocations_end()) / Double(requests))
        }
        let figures = [figure(times, "us/load"), figure(allocations, "allocations/load")]
        for figure in figures {
            print(figure.unit, figure.median, "min", figure.min, "max", figure.max)
        }
        return figures
    }

    private func figure(_ samples: [Double], _ unit: String) -> Figure {
        Figure(
            measure: Self.number, contestant: Contestant.dataLoading.rawValue,
            c: Self.concurrency, samples: samples, unit: unit)
    }
}
