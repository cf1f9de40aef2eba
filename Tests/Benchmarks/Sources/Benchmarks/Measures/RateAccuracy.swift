// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// How exactly a set rate is kept for 10 seconds of the real clock, above the transport.
struct RateAccuracy: Measure {
    let options: Options

    static let number = 8
    private static let rates = [10, 100, 1_000, 5_000]
    private static let duration = Duration.seconds(10)
    /// Loads that may start at once; with one, what starts late is never made up for.
    private static func bursts(at rate: Int) -> [Int] { [1, max(2, rate / 20)] }

    func run() async throws -> [Figure] {
        var samples = Samples()
        for _ in 0..<options.rounds {
            for rate in Self.rates {
                for burst in Self.bursts(at: rate) {
                    let starts = try await starts(at: rate, burst: burst)
                    try add(starts, at: rate, burst, to: &samples)
                }
            }
        }
        return samples.figures(of: Self.number)
    }

    private func add(
        _ starts: [ContinuousClock.Instant], at rate: Int, _ burst: Int, to samples: inout Samples
    ) throws {
        guard let first = starts.first, let last = starts.last, last > first else {
            throw Complaint("no load started")
        }
        let (name, scene) = (Contestant.dataLoading.rawValue, "burst \(burst)")
        let expected = Double(rate) * ((last - first) / .seconds(1))
        let error = (Double(starts.count - burst) / expected - 1) * 100
        samples.add(error, "% error", of: name, scene: scene, c: rate)
        for (length, window) in [("100 ms", 0.1), ("1 s", 1.0)] {
            let allowed = Double(burst) + Double(rate) * window
            let excess = Double(Self.most(of: starts, in: .seconds(window))) - allowed
            samples.add(excess, "loads too many in \(length)", of: name, scene: scene, c: rate)
        }
    }

    /// When attempts started while more loads were waiting than may start.
    private func starts(at rate: Int, burst: Int) async throws -> [ContinuousClock.Instant] {
        guard let url = URL(string: "http://origin.test/body") else { throw Complaint("no URL") }
        let transport = RecordingTransport()
        let depth = max(16, rate / 10)
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        configuration.limits.perOrigin = depth
        configuration.limits.total = depth
        configuration.timeouts.total = .seconds(600)
        let service = DataLoaderService(configuration: configuration)
        service.rateLimiter.setRequestsPerSecond(Double(rate), burst: burst, forHostOf: url)
        let delegate = RepeatingDelegate()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate)
        let request = DataLoaderRequest(url: url)
        for _ in 0..<(2 * depth) { loader.perform(request) }
        try await Task.sleep(for: Self.duration)
        delegate.stop()
        let starts = transport.starts
        await service.shutDown(gracePeriod: .zero)
        return starts
    }

    /// The largest number of instants within any window of a length, without its end.
    private static func most(
        of instants: [ContinuousClock.Instant], in window: Duration
    ) -> Int {
        var (first, most) = (0, 0)
        for (index, instant) in instants.enumerated() {
            while instants[first] + window <= instant { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }
}
