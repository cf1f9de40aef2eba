// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

extension LongComputations {
    /// A rate that daemons share, while their store answers.
    @Suite struct FleetRateTests {
        struct Figures: Sendable {
            let rate: Double
            /// The most starts in any second, and the most calls for a thousand loads.
            let most: Int
            let operations: Double
        }

        /// Eight daemons, their timers up to 0.3 ms late, and 0.2 ms for each way to the store.
        private static func fleet(_ rate: Double, _ count: Int = 8, burst: Int = 1) -> VirtualFleet
        {
            var fleet = VirtualFleet(count, rate: rate, burst: burst)
            fleet.lateness = 300_000
            for index in fleet.daemons.indices { fleet.daemons[index].faults.delay = 200_000 }
            return fleet
        }

        @Test(arguments: [
            Figures(rate: 10, most: 11, operations: 1_250),
            Figures(rate: 100, most: 104, operations: 1_100),
            Figures(rate: 1_000, most: 1_026, operations: 120),
            Figures(rate: 5_000, most: 5_126, operations: 25),
        ])
        func `eight busy daemons keep their rate, in equal shares and with few calls`(
            _ expected: Figures
        ) {
            var fleet = Self.fleet(expected.rate)
            fleet.keepBusy(0..<8)
            fleet.run(for: .seconds(12))
            let start = fleet.now
            let before = fleet.operations
            fleet.run(for: .seconds(10))
            let shares = fleet.shares(from: start)
            let number = Double(shares.reduce(0, +))
            let operations = Double(fleet.operations - before) * 1_000 / number
            let error = number / (expected.rate * 10) - 1
            #expect(abs(error) <= 0.005, "\(number) loads")
            #expect(fleet.most(in: .seconds(1), from: start) <= expected.most)
            #expect(operations <= expected.operations)
            let fair = expected.rate * 10 / 8
            #expect(shares.allSatisfy { abs(Double($0) - fair) <= max(1, fair / 10) }, "\(shares)")
        }

        @Test func `one busy daemon of eight uses the whole rate`() {
            var fleet = Self.fleet(100)
            fleet.run(for: .seconds(4))
            let start = fleet.now
            fleet.keepBusy(3..<4)
            fleet.run(for: .seconds(5))
            #expect(abs(fleet.shares(from: start)[3] - 500) <= 2)
        }

        @Test func `an idle fleet gives its burst once and then its rate`() {
            var fleet = VirtualFleet(2, rate: 100, burst: 5)
            fleet.run(for: .seconds(4))
            let start = fleet.now
            fleet.keepBusy(0..<2)
            fleet.run(for: .seconds(1))
            let counts = fleet.counts(from: start, every: .milliseconds(100), 4)
            #expect((13...15).contains(counts[0]), "\(counts)")
            #expect(counts.dropFirst().allSatisfy { (9...11).contains($0) }, "\(counts)")
        }

        @Test func `a fleet that begins uses the part of its rate that is surely its own`() {
            var fleet = Self.fleet(400)
            fleet.keepBusy(0..<8)
            let start = fleet.now
            fleet.run(for: .seconds(4))
            let counts = fleet.counts(from: start, every: .seconds(1), 4)
            #expect(counts[0] < 350, "\(counts)")
            #expect(counts[1] >= 396 && counts[2] >= 396 && counts[3] >= 396, "\(counts)")
            #expect(fleet.most(in: .seconds(1)) <= 411)
        }

        @Test func `one daemon's gate stops all of them within the window`() {
            var fleet = Self.fleet(1_000)
            fleet.keepBusy(0..<8)
            fleet.run(for: .seconds(4))
            let start = fleet.now
            fleet.close(.seconds(2), by: 3)
            fleet.run(for: .seconds(3))
            let counts = fleet.counts(from: start, every: .milliseconds(250), 9)
            #expect(counts[0] <= 110, "\(counts)")
            #expect(counts[1...7].allSatisfy { $0 == 0 }, "\(counts)")
            #expect(counts[8] >= 240 && counts[8] <= 350, "\(counts)")
            let last = fleet.admissions.last { $0.at < start.nanoseconds + 1_900_000_000 }
            #expect((last?.at ?? 0) - start.nanoseconds <= 110_000_000)
        }

        @Test func `after a long gate the daemons begin in turn`() {
            var fleet = Self.fleet(40, 16)
            fleet.keepBusy(0..<16)
            fleet.run(for: .seconds(5))
            fleet.close(.seconds(3), by: 3)
            fleet.run(for: .seconds(3) - .milliseconds(1))
            let open = fleet.now
            fleet.run(for: .seconds(2))
            #expect(fleet.most(in: .milliseconds(500), from: open) <= 22)
            #expect(fleet.shares(from: open).reduce(0, +) >= 76)
        }

        @Test
        func `loads that cannot start before their deadline are refused, and the others start`() {
            var fleet = Self.fleet(10, 2)
            fleet.run(for: .seconds(3))
            fleet.perform(10, at: 1)
            fleet.run(for: .milliseconds(20))
            // The line is leased further than the patience of these.
            fleet.perform(3, at: 0, within: .milliseconds(10))
            fleet.run(for: .seconds(3))
            #expect(fleet.daemons[1].admitted == 10)
            #expect(fleet.daemons[0].admitted <= 1)
            let ended =
                fleet.daemons[0].refused.count + fleet.daemons[0].timedOut
                + fleet.daemons[0].admitted
            #expect(ended == 3)
            #expect(fleet.daemons[0].refused.allSatisfy { $0 > .zero })
        }

        @Test func `a new rate holds for all once slots of the old one are over, and zero pauses`()
        {
            var fleet = Self.fleet(10, 4)
            fleet.keepBusy(0..<4)
            fleet.run(for: .seconds(5))
            let faster = fleet.now
            fleet.setRate(100)
            fleet.run(for: .seconds(2))
            let counts = fleet.counts(from: faster, every: .milliseconds(500), 4)
            // Four slots more at most: each daemon had one of the old rate.
            #expect((148...154).contains(counts[1...].reduce(0, +)), "\(counts)")
            #expect((48...52).contains(counts[2]) && (48...52).contains(counts[3]), "\(counts)")
            #expect(fleet.most(in: .seconds(1), from: faster) <= 104 + 4)
            fleet.setRate(0)
            let paused = fleet.now
            fleet.run(for: .seconds(1))
            #expect(fleet.shares(from: paused).reduce(0, +) <= 1)
            fleet.setRate(20)
            let again = fleet.now
            fleet.run(for: .seconds(2))
            #expect((38...42).contains(fleet.shares(from: again).reduce(0, +)))
        }
    }
}
