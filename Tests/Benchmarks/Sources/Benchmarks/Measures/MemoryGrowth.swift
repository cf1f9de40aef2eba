// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How much the memory of a process grows after its first 10,000 loads.
struct MemoryGrowth: Measure {
    let options: Options

    static let number = 14
    private static let concurrency = 32
    private static let firstLoads = 10_000
    private static let loads = 200_000

    func run() async throws -> [Figure] {
        let transport = HeldTransport(bodySize: 1_024)
        let workload = Workload(url: "http://127.0.0.1/body", concurrency: Self.concurrency)
        guard let client = DataLoadingClient(workload, transport: transport) else {
            throw Complaint("the client cannot be made")
        }
        await client.load(Self.firstLoads, from: transport)
        let loads = options.requests ?? Self.loads
        var samples: [Double] = []
        for _ in 0..<options.rounds {
            let before = ProcessStatus.residentBytes
            await client.load(loads, from: transport)
            let grown = Double(ProcessStatus.residentBytes - before) / 1_024
            samples.append(grown * 1e6 / Double(loads))
        }
        let figure = Figure(
            measure: Self.number, contestant: Contestant.dataLoading.rawValue,
            c: Self.concurrency, samples: samples, unit: "KiB/million loads")
        return [figure]
    }
}
