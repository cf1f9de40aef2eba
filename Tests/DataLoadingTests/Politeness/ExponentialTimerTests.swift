// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct ExponentialTimerTests {
    private static let minute = ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))

    @Test func `the first pause of an exponential timer is the initial time without jitter`() {
        for jitter in [.none, .normal(0.5), .full] as [ExponentialTimer.Jitter] {
            var timer = ExponentialTimer(
                initialTime: ms(500), maxTime: .seconds(60), jitter: jitter)
            #expect(timer.timeInterval == ms(500))
            #expect(timer.timeIntervalAndCalculateNext() == ms(500))
            timer.calculateNext()
            timer.reset()
            #expect(timer.timeIntervalAndCalculateNext() == ms(500))
        }
    }

    @Test func `pauses with a wide jitter grow again after one of zero`() {
        var generator = SeededGenerator(seed: 1)
        var timer = ExponentialTimer(
            initialTime: .seconds(1), maxTime: .seconds(60), jitter: .normal(1))
        let pauses = (0..<2_000).map { _ in timer.calculateNext(using: &generator) }
        #expect(pauses.contains(.zero))
        #expect(pauses.suffix(100).contains { $0 > .seconds(1) })
    }

    @Test func `an exponential timer without jitter grows by e up to the maximum`() {
        var timer = ExponentialTimer(
            initialTime: .seconds(1), maxTime: .seconds(60), jitter: .none)
        let pauses = (0..<6).map { _ in timer.timeIntervalAndCalculateNext().inSeconds }
        for (pause, expected) in zip(
            pauses, [1, 2.718281828, 7.389056099, 20.08553692, 54.59815003, 60])
        {
            #expect(abs(pause - expected) < 1e-8)
        }
    }

    @Test(arguments: [0.5, 0, -3, -Double.infinity, .nan, 1])
    func `an exponential timer never shrinks, whatever its growth factor`(growth: Double) {
        var timer = ExponentialTimer(
            initialTime: .seconds(2), maxTime: .seconds(60), jitter: .none, growth: growth)
        #expect(timer.calculateNext() == .seconds(2))
    }

    @Test func `an exponential timer with an initial time of zero stays at zero`() {
        var timer = ExponentialTimer(initialTime: .zero, maxTime: .seconds(60), jitter: .full)
        for _ in 0..<100 { #expect(timer.calculateNext() == .zero) }
        var generator = SeededGenerator(seed: 1)
        #expect(timer.pause(beforeRetry: .max, using: &generator) == .zero)
    }

    /// The mean, the share at the maximum and the extremes of each of the first pauses.
    private func statistics(_ count: Int) -> [(
        mean: Double, atMaximum: Double, low: Double, high: Double
    )] {
        var generator = SeededGenerator(seed: 42)
        var pauses = [[Double]](repeating: [], count: 7)
        for _ in 0..<count {
            var timer = Self.minute
            for index in pauses.indices {
                pauses[index].append(
                    timer.timeIntervalAndCalculateNext(using: &generator).inSeconds)
            }
        }
        return pauses.map { values in
            (
                values.reduce(0, +) / Double(count),
                Double(values.count { $0 == 60 }) / Double(count),
                values.min() ?? 0, values.max() ?? 0
            )
        }
    }

    // The figures of SPTDataLoader over 200,000 runs: 1; 2.72 (1.4 to 4.1); 7.39 (3.1 to 13.9);
    // 20.1 (7.3 to 46.7); 51.2, 23 % at 60; then 57.3, 50 % at 60.
    @Test func `an exponential timer has the statistics of SPTDataLoader's timer`() {
        let found = statistics(20_000)
        for (index, mean) in [1, 2.72, 7.39, 20.1, 51.2, 57.3, 57.3].enumerated() {
            #expect(abs(found[index].mean - mean) < 0.01 * mean, "\(index): \(found[index])")
        }
        for (index, share) in [(4, 0.23), (5, 0.50), (6, 0.50)] {
            #expect(abs(found[index].atMaximum - share) < 0.05, "\(index): \(found[index])")
        }
        #expect(found[1].low > 1.2 && found[1].high < 4.3)
        #expect(found[2].low > 2.5 && found[2].high < 15.5)
        #expect(found[6].low > 10 && found[6].high == 60)
    }

    @Test func `an exponential timer gives the same pauses for the same seed`() {
        func pauses(_ jitter: ExponentialTimer.Jitter) -> [Double] {
            var generator = SeededGenerator(seed: 2_026)
            var timer = ExponentialTimer(
                initialTime: .seconds(1), maxTime: .seconds(60), jitter: jitter)
            return (0..<5).map { _ in
                timer.timeIntervalAndCalculateNext(using: &generator).inSeconds
            }
        }
        expect(pauses(.normal(ExponentialTimer.defaultJitter)), are: Golden.normal)
        expect(pauses(.full), are: Golden.full)
    }

    @Test func `the default pauses before retries are the same for the same seed`() {
        var generator = SeededGenerator(seed: 2_026)
        let timer = RetryConfiguration().timer
        let pauses = (1...8).map { timer.pause(beforeRetry: $0, using: &generator).inSeconds }
        expect(pauses, are: Golden.retries)
    }

    /// Calculated by another program from SplitMix64 and the formulas.
    private enum Golden {
        static let normal = [1, 3.218489826, 10.322234238, 27.089226176, 57.240025631]
        static let full = [1, 2.406899185, 6.597557494, 14.51116337, 0.983342022]
        static let retries = [
            0.177089745, 0.357152925, 0.577974626, 0.02881686, 0.660983322, 4.32534626,
            9.782985816, 14.230703259,
        ]
    }

    private func expect(_ pauses: [Double], are golden: [Double]) {
        #expect(pauses.count == golden.count)
        #expect(zip(pauses, golden).allSatisfy { abs($0 - $1) < 1e-7 }, "\(pauses)")
    }

    @Test func `full jitter is distributed evenly between zero and the pause`() {
        var generator = SeededGenerator(seed: 3)
        let timer = RetryConfiguration().timer
        let count = 20_000
        let pauses = (0..<count).map { _ in
            timer.pause(beforeRetry: 4, using: &generator).inSeconds / 1.6
        }.sorted()
        #expect(pauses.allSatisfy { (0..<1).contains($0) })
        // The Kolmogorov–Smirnov bound 1.63 / √n at a level of 1 %.
        let distance = pauses.enumerated().map { index, pause in
            abs(pause - (Double(index) + 0.5) / Double(count))
        }.max()
        #expect((distance ?? 1) < 1.63 / Double(count).squareRoot())
    }

    @Test func `an exponential timer keeps its bounds with extreme parameters`() {
        let durations: [Duration] = [
            .seconds(-1), .zero, .nanoseconds(1), .seconds(1), .seconds(Int64.max),
        ]
        let jitters: [ExponentialTimer.Jitter] = [
            .none, .full, .normal(-1), .normal(.nan), .normal(5), .normal(.infinity),
        ]
        var generator = SeededGenerator(seed: 4)
        for initial in durations {
            for maximum in durations {
                for jitter in jitters {
                    for growth in [0, 1, 2, Double.infinity, .nan] {
                        var timer = ExponentialTimer(
                            initialTime: initial, maxTime: maximum, jitter: jitter, growth: growth)
                        let range = Duration.zero...max(.zero, maximum)
                        for n in [1, 2, 64, 10_000, Int.max, Int.min] {
                            #expect(range.contains(timer.calculateNext(using: &generator)))
                            #expect(range.contains(timer.pause(beforeRetry: n, using: &generator)))
                        }
                    }
                }
            }
        }
        var timer = Self.minute
        for _ in 0..<10_000 { timer.calculateNext(using: &generator) }
        #expect(timer.timeInterval <= .seconds(60))
    }
}
