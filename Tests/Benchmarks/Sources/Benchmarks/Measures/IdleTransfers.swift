// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Processor time for 1,000 GETs while many other transfers wait for their server.
struct IdleTransfers: Measure {
    let options: Options

    static let number = 9
    private static let bodySize = 1_024
    private static let concurrency = 8
    private static let counts = [0, 2_000]
    private static let contestants: [Contestant] = [
        .dataLoading, .direct, .awaited, .libcurl, .asyncHTTPClient,
    ]

    func run() throws -> [Figure] {
        let server = try NginxServer(bodySize: Self.bodySize)
        defer { server.stop() }
        var samples = Samples()
        let contestants = options.contestants.filter(Self.contestants.contains)
        for _ in 0..<options.rounds {
            for contestant in contestants {
                for count in Self.counts {
                    // A fresh server for each: nothing takes the connections of the last one away.
                    let silent = try SilentServer(count: count + 1)
                    var workload = Workload(url: server.url, concurrency: Self.concurrency)
                    if count > 0 { workload.idle = .init(url: silent.url, count: count) }
                    let entry = Turns.Entry(
                        contestant: contestant, scene: "\(count) idle", workload: workload,
                        requests: options.requests ?? contestant.requestsPerRound)
                    try Turns(options: options).run(entry, into: &samples)
                }
            }
        }
        return samples.figures(of: Self.number)
    }
}
