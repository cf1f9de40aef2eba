// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a load costs when hosts, loaders and requests differ, compared with one of each.
struct ManyOrigins: Measure {
    let options: Options

    static let number = 10
    private static let counts = [1, 100, 10_000]
    private static let loadsPerRound = 30_000
    private static let concurrency = 32
    private static let portCount = 4
    private static let contestants: [Contestant] = [.dataLoading, .direct, .awaited, .libcurl]

    func run() async throws -> [Figure] {
        var samples = Samples()
        try await takeTurns(&samples)
        try await meetNewHosts(&samples)
        try mix(&samples)
        return samples.figures(of: Self.number)
    }

    /// Hosts and loaders in turn, above the transport.
    private func takeTurns(_ samples: inout Samples) async throws {
        let loads = options.requests ?? Self.loadsPerRound
        var clients: [(scene: String, count: Int, client: ScriptedFleet)] = []
        for count in Self.counts {
            clients.append(("hosts", count, ScriptedFleet(hosts: count, loaders: 4)))
            clients.append(("loaders", count, ScriptedFleet(hosts: 1, loaders: count)))
        }
        // The first round warms up.
        for round in 0...options.rounds {
            for (scene, count, client) in clients {
                let before = Usage.now
                await client.load(max(loads, round == 0 ? count : 0))
                let used = Usage.now.processorTime - before.processorTime
                guard round > 0 else { continue }
                samples.add(
                    used * 1e6 / Double(loads), "us/load", of: Contestant.dataLoading.rawValue,
                    scene: scene, c: count)
            }
        }
    }

    /// The memory that a host keeps which is never loaded from again.
    private func meetNewHosts(_ samples: inout Samples) async throws {
        let count = options.requests ?? Self.loadsPerRound
        let client = ScriptedFleet(hosts: 1, loaders: 4)
        await client.loadFromNewHosts(count)
        for _ in 0..<options.rounds {
            let before = ProcessStatus.residentBytes
            await client.loadFromNewHosts(count)
            let grown = Double(ProcessStatus.residentBytes - before)
            samples.add(
                grown / Double(count), "bytes/host", of: Contestant.dataLoading.rawValue,
                scene: "new hosts", c: count)
        }
    }

    /// Requests in turn that differ in everything, and one again and again, over the network.
    private func mix(_ samples: inout Samples) throws {
        let server = try NginxServer(bodySize: 1_024, portCount: Self.portCount)
        defer { server.stop() }
        let plain = Workload(url: server.url, concurrency: Self.concurrency)
        var mixed = plain
        mixed.mix = MixedRequest.mix(ports: server.ports)
        let entries = options.contestants.filter(Self.contestants.contains).flatMap { contestant in
            [("one request", plain), ("mixed", mixed)].map { scene, workload in
                Turns.Entry(
                    contestant: contestant, scene: scene, workload: workload,
                    requests: options.requests ?? contestant.requestsPerRound)
            }
        }
        try Turns(options: options).run(entries, into: &samples)
    }
}
