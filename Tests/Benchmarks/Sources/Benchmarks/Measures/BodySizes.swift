// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Processor time for 1,000 GETs of bodies from 1 KiB to 4 MiB, which are delivered whole.
struct BodySizes: Measure {
    let options: Options

    static let number = 18
    private static let sizes = [1_024, 16_384, 262_144, 4_194_304]
    private static let concurrency = 8
    /// What a round moves at most.
    private static let bytesPerRound = 1_073_741_824
    private static let contestants: [Contestant] = [
        .dataLoading, .direct, .awaited, .libcurl, .asyncHTTPClient,
    ]

    func run() throws -> [Figure] {
        var samples = Samples()
        for size in Self.sizes {
            let server = try NginxServer(bodySize: size)
            defer { server.stop() }
            let most = Self.bytesPerRound / size
            let contestants = options.contestants.filter(Self.contestants.contains)
            let entries = contestants.map { contestant in
                Turns.Entry(
                    contestant: contestant, c: size,
                    workload: Workload(url: server.url, concurrency: Self.concurrency),
                    requests: min(options.requests ?? contestant.requestsPerRound, most))
            }
            try Turns(options: options).run(entries, into: &samples)
        }
        return samples.figures(of: Self.number)
    }
}
