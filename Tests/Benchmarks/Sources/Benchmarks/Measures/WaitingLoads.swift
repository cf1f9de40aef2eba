// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Loads that wait for one rate key: the time to enqueue and to cancel each, and the memory
/// that each takes.
struct WaitingLoads: Measure {
    let options: Options

    static let number = 7
    /// The most come first: later ones reuse memory of the first.
    private static let counts = [100_000, 10_000, 1_000]
    private static let memoryUnit = "bytes/waiting load"

    func run() async throws -> [Figure] {
        var samples = Samples()
        let counts = options.requests.map { [$0] } ?? Self.counts
        for loads in counts {
            for round in 0..<options.rounds {
                for (unit, value) in try await self.round(loads) {
                    if unit == Self.memoryUnit, round > 0 || loads != counts[0] { continue }
                    samples.add(value, unit, of: Contestant.dataLoading.rawValue, c: loads)
                }
            }
        }
        return samples.figures(of: Self.number)
    }

    private func round(_ loads: Int) async throws -> KeyValuePairs<String, Double> {
        guard let url = URL(string: "http://origin.test/body") else {
            throw Complaint("the URL is none")
        }
        var configuration = DataLoaderService.Configuration()
        configuration.transport = HeldTransport(bodySize: 0)
        configuration.limits.queue = loads
        let service = DataLoaderService(configuration: configuration)
        service.rateLimiter.setRequestsPerSecond(0, forHostOf: url)
        let loader = service.makeFactory().makeDataLoader()
        let request = DataLoaderRequest(url: url)
        // Filled before, so that the memory of this list does not count.
        var tokens = [CancellationToken?](repeating: nil, count: loads)

        let (memory, threads) = (ProcessStatus.residentBytes, ProcessStatus.threads)
        let start = Usage.now
        for index in 0..<loads { tokens[index] = loader.perform(request) }
        let (grown, waiting) = (ProcessStatus.residentBytes - memory, Usage.now)
        let newThreads = ProcessStatus.threads - threads
        tokens.shuffle()
        let cancelling = Usage.now
        for token in tokens { token?.cancel() }
        let cancelled = Usage.now
        await service.shutDown(gracePeriod: .seconds(60))
        return [
            "us/enqueued load":
                (waiting.processorTime - start.processorTime) * 1e6 / Double(loads),
            "us/cancelled load":
                (cancelled.processorTime - cancelling.processorTime) * 1e6 / Double(loads),
            Self.memoryUnit: Double(grown) / Double(loads),
            "threads": Double(newThreads),
        ]
    }
}
