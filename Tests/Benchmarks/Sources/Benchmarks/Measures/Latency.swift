// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The latency of GETs that begin at half the rate which AsyncHTTPClient reaches at most.
struct Latency: Measure {
    let options: Options

    static let number = 5
    private static let contestants: [Contestant] = [.awaited, .asyncHTTPClient]
    private static let concurrency = 32
    /// More than enough connections: an open loop does not wait for one.
    private static let connections = 256

    func run() throws -> [Figure] {
        guard options.contestants.contains(.asyncHTTPClient) else {
            FileHandle.standardError.write(Data("measure 5 needs BENCHMARK_PEERS=1\n".utf8))
            return []
        }
        let server = try NginxServer(bodySize: 1_024)
        defer { server.stop() }
        var samples = Samples()
        for _ in 0..<options.rounds {
            let peer = Contestant.asyncHTTPClient
            let most = try ChildRun(
                contestant: peer,
                workload: Workload(url: server.url, concurrency: Self.concurrency),
                requests: options.requests ?? peer.requestsPerRound
            ).start().throughput
            for contestant in options.contestants where Self.contestants.contains(contestant) {
                let outcome = try PacedRun(
                    contestant: contestant,
                    workload: Workload(url: server.url, concurrency: Self.connections),
                    requestsPerSecond: most / 2,
                    requests: options.requests ?? peer.requestsPerRound
                ).start()
                let name = contestant.rawValue
                samples.add(outcome.median, "us at the median", of: name, c: Self.connections)
                samples.add(
                    outcome.percentile99, "us at 99 %", of: name, c: Self.connections)
                samples.add(most / 2, "loads/s offered", of: name, c: Self.connections)
            }
        }
        return samples.figures(of: Self.number)
    }
}
