// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Processor time for 1,000 small GETs on kept connections, at several concurrencies.
struct SmallGets {
    let options: Options

    static let number = 1
    private static let bodySize = 1_024

    func run() throws -> [Figure] {
        let server = try NginxServer(bodySize: Self.bodySize)
        defer { server.stop() }
        var figures: [Figure] = []
        for concurrency in options.concurrencies {
            let samples = try samples(at: concurrency, server)
            let found = options.contestants.map { contestant in
                Figure(
                    measure: Self.number, contestant: contestant.rawValue, c: concurrency,
                    samples: samples[contestant]?.map(\.cost) ?? [], unit: "ms/1000")
            }
            figures += found
            print(Table(concurrency: concurrency, figures: found, samples: samples).text)
        }
        return figures
    }

    /// Each round runs every client once, so that a busy moment of the machine affects all.
    private func samples(
        at concurrency: Int, _ server: NginxServer
    ) throws -> [Contestant: [ChildRun.Outcome]] {
        var samples: [Contestant: [ChildRun.Outcome]] = [:]
        for _ in 0..<options.rounds {
            for contestant in options.contestants {
                let run = ChildRun(
                    contestant: contestant, url: server.url, concurrency: concurrency,
                    requests: options.requests ?? contestant.requestsPerRound)
                let outcome = try run.start()
                guard outcome.failures == 0 else {
                    throw Complaint("\(contestant.rawValue): \(outcome.failures) loads failed")
                }
                samples[contestant, default: []].append(outcome)
            }
        }
        return samples
    }
}
