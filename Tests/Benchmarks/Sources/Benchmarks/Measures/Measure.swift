// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One thing that is measured; its number is that of the table in the README.
protocol Measure: Sendable {
    static var number: Int { get }

    init(options: Options)

    /// Takes the measure, in rounds.
    func run() async throws -> [Figure]
}

/// The measures that there are.
enum Measures {
    static let all: [any Measure.Type] = [
        SmallGets.self, SecureGets.self, Latency.self, Layers.self, WaitingLoads.self,
        RateAccuracy.self, IdleTransfers.self, ManyOrigins.self, LargeBodies.self,
        SlowConsumers.self, IdleDaemon.self, MemoryGrowth.self, ClientBuilds.self, Hits.self,
        SeveralLoops.self, BodySizes.self, Sequences.self, WatchedLayers.self, WatchedLatency.self,
    ]

    /// The measures of a number, or all of them.
    static func chosen(by options: Options) throws -> [any Measure.Type] {
        guard let number = options.measure else { return all }
        let chosen = all.filter { $0.number == number }
        guard !chosen.isEmpty else { throw Complaint("there is no measure \(number)") }
        return chosen
    }
}
