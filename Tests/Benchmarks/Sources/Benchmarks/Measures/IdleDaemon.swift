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
        let scenes = [("deadlines ahead", 60), ("deadlines over", 2)]
        for _ in 0..<options.rounds {
            for (scene, timeout) in scenes {
                for (name, loaders) in [(name, Self.loaders), ("Dispatch", 0)] {
                    let outcome = try IdleRun(
                        url: server.url, loaders: loaders, timeoutSeconds: timeout
                    ).start()
                    outcome.add(to: &samples, name, scene, c: Self.loaders)
                }
            }
        }
        return samples.figures(of: Self.number)
    }
}

extension IdleRun.Outcome {
    /// Adds what a process did while it was idle.
    fileprivate func add(to samples: inout Samples, _ name: String, _ scene: String, c: Int) {
        samples.add(wakeUps, "wake-ups/s", of: name, scene: scene, c: c)
        samples.add(memory, "MiB", of: name, scene: scene, c: c)
        samples.add(Double(threads), "threads", of: name, scene: scene, c: c)
    }
}
