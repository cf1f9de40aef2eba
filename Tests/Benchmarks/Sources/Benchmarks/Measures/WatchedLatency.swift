// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The latency of GETs while their service is watched, and what the one who watches it sees.
struct WatchedLatency: Measure {
    let options: Options

    static let number = 21
    private static let requestsPerRound = 20_000
    /// How many loads begin in a second.
    private static let scenes: [(Watching, rate: Double)] = [
        (.nothing, 1_000), (.metrics, 1_000), (.scraped, 1_000), (.nothing, 2_000), (.log, 2_000),
        (.stalledLog, 2_000),
    ]

    func run() throws -> [Figure] {
        let server = try NginxServer(bodySize: 1_024)
        defer { server.stop() }
        var samples = Samples()
        for _ in 0..<options.rounds {
            for (way, rate) in Self.scenes {
                let outcome = try WatchedRun(
                    way: way, url: server.url, requestsPerSecond: rate,
                    requests: options.requests ?? Self.requestsPerRound
                ).start()
                outcome.add(to: &samples, way, c: Int(rate))
            }
        }
        return samples.figures(of: Self.number)
    }
}

extension WatchedRun.Outcome {
    /// Adds what a process has seen at a rate.
    fileprivate func add(to samples: inout Samples, _ way: Watching, c: Int) {
        let name = Contestant.awaited.rawValue
        samples.add(latencies.median, "us at the median", of: name, scene: way.rawValue, c: c)
        samples.add(latencies.percentile99, "us at 99 %", of: name, scene: way.rawValue, c: c)
        samples.add(growth, "MiB grown", of: name, scene: way.rawValue, c: c)
        if let scrape {
            samples.add(scrape, "us/longest reading", of: name, scene: way.rawValue, c: c)
        }
        if let lines {
            samples.add(Double(lines), "lines written", of: name, scene: way.rawValue, c: c)
        }
    }
}
