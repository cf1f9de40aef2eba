// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Small GETs to several origins from one event loop and from two.
///
/// What two of them gain shows only where a core is free for the second: the loop is the limit, and
/// neither the server nor the delegates.
struct SeveralLoops: Measure {
    let options: Options

    static let number = 17
    private static let concurrency = 256
    private static let originCount = 4
    private static let counts = [1, 2]
    private static let contestants: [Contestant] = [.dataLoading, .direct]

    func run() throws -> [Figure] {
        let server = try ReadyServer(bodySize: 1_024, portCount: Self.originCount)
        let mix = server.ports.map { port in
            MixedRequest(
                method: "GET", url: "http://origin.test:\(port)/body", fields: [], body: nil)
        }
        let contestants = options.contestants.filter(Self.contestants.contains)
        let entries = contestants.flatMap { contestant in
            Self.counts.map { count in
                var workload = Workload(
                    url: "http://127.0.0.1:\(server.ports[0])/body", concurrency: Self.concurrency)
                workload.mix = mix
                workload.loops = count
                return Turns.Entry(
                    contestant: contestant, scene: count == 1 ? "1 loop" : "\(count) loops",
                    workload: workload,
                    requests: options.requests ?? 4 * contestant.requestsPerRound)
            }
        }
        var samples = Samples()
        try Turns(options: options).run(entries, into: &samples)
        return samples.figures(of: Self.number)
    }
}
