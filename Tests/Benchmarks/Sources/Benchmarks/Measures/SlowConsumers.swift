// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How much the memory grows while a large body is read at 20 MB a second, one and 64 at once.
struct SlowConsumers: Measure {
    let options: Options

    static let number = 12
    private static let bodySize = 1_073_741_824
    private static let pace = Pace(bytesPerSecond: 20_000_000, seconds: 10)
    private static let streams = [1, 64]
    private static let contestants: [Contestant] = [.awaited, .asyncHTTPClient]

    func run() throws -> [Figure] {
        let server = try NginxServer(bodySize: Self.bodySize)
        defer { server.stop() }
        var samples = Samples()
        for _ in 0..<options.rounds {
            for contestant in options.contestants where Self.contestants.contains(contestant) {
                for streams in Self.streams {
                    let outcome = try TransferRun(
                        contestant: contestant, url: server.url, smallURL: server.postURL,
                        bodySize: Self.bodySize, streams: streams, pace: Self.pace
                    ).start()
                    outcome.add(to: &samples, contestant, nil, c: streams)
                }
            }
        }
        return samples.figures(of: Self.number)
    }
}
