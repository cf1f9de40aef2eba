// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How often a process wakes up that has loaders, connections and nothing to do, beside one that
/// has only used Dispatch.
struct IdleDaemon: Measure {
    let options: Options

    static let number = 13
    private static let loaders = 1_000

    func run() throws -> [Figure] {
        let server = try NginxServer(bodySize: 1_024)
        defer { server.stop() }
        let name = Contestant.dataLoading.rawValue
        var samples = Samples()
        for _ in 0..<options.rounds {
            for (name, loaders) in [(name, Self.loaders), ("Dispatch", 0)] {
                let outcome = try IdleRun(url: server.url, loaders: loaders).start()
                samples.add(outcome.wakeUps, "wake-ups/s", of: name, c: Self.loaders)
                samples.add(outcome.memory, "MiB", of: name, c: Self.loaders)
                samples.add(Double(outcome.threads), "threads", of: name, c: Self.loaders)
            }
        }
        return samples.figures(of: Self.number)
    }
}
