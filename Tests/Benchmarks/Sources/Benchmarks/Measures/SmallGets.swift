// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Processor time for 1,000 small GETs on kept connections, at several concurrencies.
struct SmallGets: Measure {
    let options: Options

    static let number = 1
    private static let bodySize = 1_024

    func run() throws -> [Figure] {
        let server = try NginxServer(bodySize: Self.bodySize)
        defer { server.stop() }
        var samples = Samples()
        for concurrency in options.concurrencies {
            let workload = Workload(url: server.url, concurrency: concurrency)
            let entries = options.contestants.map { contestant in
                Turns.Entry(
                    contestant: contestant, workload: workload,
                    requests: options.requests ?? contestant.requestsPerRound)
            }
            try Turns(options: options).run(entries, into: &samples)
        }
        return samples.figures(of: Self.number)
    }
}
