// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

extension LongComputations {
    /// A rate that daemons share, while their store is slow, gone or reached by some of them only.
    @Suite struct FleetLossTests {
        /// Eight busy daemons with 400 a second, after four seconds.
        private static func fleet(_ policy: LossPolicy = .share(for: nil)) -> VirtualFleet {
            var fleet = VirtualFleet(8, rate: 400, policy: policy)
            fleet.lateness = 300_000
            for index in fleet.daemons.indices { fleet.daemons[index].faults.delay = 200_000 }
            fleet.keepBusy(0..<8)
            fleet.run(for: .seconds(4))
            return fleet
        }

        /// Lets seconds pass; returns what was started in each.
        private static func run(_ fleet: inout VirtualFleet, _ seconds: Int) -> [Int] {
            let start = fleet.now
            fleet.run(for: .seconds(seconds))
            return fleet.counts(from: start, every: .seconds(1), seconds)
        }

        @Test func `a store that forgets everything causes at most two windows more`() {
            var fleet = Self.fleet()
            let start = fleet.now
            fleet.forgetAll()
            let counts = Self.run(&fleet, 5)
            #expect(fleet.most(in: .seconds(1), from: start) <= 400 + 80 + 11)
            #expect(counts[2...].allSatisfy { $0 >= 396 }, "\(counts)")
        }

        @Test func `without a store each daemon uses its share after one short wait`() {
            var fleet = Self.fleet()
            fleet.cutOff(0..<8)
            let start = fleet.now
            let counts = Self.run(&fleet, 3)
            let quarters = fleet.counts(from: start, every: .milliseconds(250), 2)
            #expect(quarters[0] >= 55 && quarters[1] >= 90, "\(quarters)")
            #expect(counts[1...].allSatisfy { (392...411).contains($0) }, "\(counts)")
            #expect(fleet.most(in: .seconds(1), from: start) <= 411)
            fleet.heal()
            let healed = fleet.now
            let after = Self.run(&fleet, 4)
            #expect(fleet.most(in: .seconds(1), from: healed) <= 411)
            #expect(after[0] >= 320 && after[1...].allSatisfy { $0 >= 392 }, "\(after)")
        }

        /// Cuts so many off, and lets them come back; returns what was started in the quarters of a second
        /// after it.
        private static func quarters(
            cutOff: Int, seconds: Int = 6, forgets: Bool = false, _ fleet: inout VirtualFleet
        ) -> [Int] {
            fleet.cutOff(0..<cutOff)
            fleet.run(for: .milliseconds(1_000 * seconds + 37 * cutOff))
            if forgets { fleet.forgetAll() }
            fleet.heal()
            let healed = fleet.now
            fleet.run(for: .seconds(4))
            return fleet.counts(from: healed, every: .milliseconds(250), 16)
        }

        @Test(arguments: [2, 6, 40], [false, true])
        func `daemons that all come back leave no gap and start no more than the rate`(
            seconds: Int, forgets: Bool
        ) {
            var fleet = Self.fleet()
            let start = fleet.now + .seconds(1)
            let quarters = Self.quarters(cutOff: 8, seconds: seconds, forgets: forgets, &fleet)
            // They come back one after the other, and take over what the others no longer use themselves.
            #expect(quarters.allSatisfy { $0 >= 80 }, "\(quarters)")
            #expect(quarters[8...].allSatisfy { $0 >= 98 }, "\(quarters)")
            #expect(fleet.most(in: .seconds(1), from: start) <= 405)
            #expect(fleet.most(in: .milliseconds(100), from: start) <= 48)
        }

        @Test(arguments: 1...7, [false, true])
        func `daemons that come back to others start no more than what was lost and the rate`(
            cutOff: Int, forgets: Bool
        ) {
            var fleet = Self.fleet()
            let start = fleet.now + .seconds(4)
            let quarters = Self.quarters(cutOff: cutOff, forgets: forgets, &fleet)
            // The others learn of it with their next heartbeats, within a second.
            #expect(quarters.allSatisfy { $0 >= (forgets ? 50 : 70) }, "\(quarters)")
            #expect(quarters[8...].allSatisfy { $0 >= 98 }, "\(quarters)")
            // What was lost of the line may be leased again.
            #expect(fleet.most(in: .seconds(1), from: start) <= (forgets ? 400 + 80 + 11 : 411))
        }

        @Test func `the daemons that reach the store give way to those that do not`() {
            var fleet = Self.fleet()
            fleet.cutOff(0..<4)
            let counts = Self.run(&fleet, 6)
            #expect(counts.allSatisfy { $0 <= 611 }, "\(counts)")
            #expect(counts[4...].allSatisfy { (390...411).contains($0) }, "\(counts)")
        }

        @Test func `a daemon that may share for a second pauses then until the store answers`() {
            var fleet = Self.fleet(.share(for: .seconds(1)))
            fleet.cutOff(0..<8)
            let counts = Self.run(&fleet, 4)
            #expect(counts[0] > 200 && counts[2] == 0 && counts[3] == 0, "\(counts)")
            fleet.heal()
            #expect(Self.run(&fleet, 4)[3] >= 396)
        }

        @Test func `shares that end after thirty seconds stay within the rate`() {
            var fleet = Self.fleet(.share(for: .seconds(30)))
            fleet.cutOff(0..<4)
            let counts = Self.run(&fleet, 40)
            #expect(counts[4...].allSatisfy { $0 <= 411 }, "\(counts)")
            #expect(counts[35...].allSatisfy { $0 >= 390 }, "\(counts)")
        }

        @Test func `daemons that pause without the store leave the rate to the others`() {
            var fleet = Self.fleet(.pause)
            fleet.cutOff(0..<4)
            let counts = Self.run(&fleet, 6)
            #expect(counts[1...].allSatisfy { (390...411).contains($0) }, "\(counts)")
            #expect(fleet.shares(from: fleet.now + .seconds(-4))[0..<4].allSatisfy { $0 == 0 })
        }

        @Test
        func `after a goodbye the others have the rate within a second, after a crash in time`() {
            var fleet = Self.fleet()
            // Between two heartbeats of theirs.
            fleet.run(for: .milliseconds(300))
            for index in 2..<5 { fleet.stop(index, saysGoodbye: true) }
            for index in 5..<8 { fleet.stop(index, saysGoodbye: false) }
            let counts = Self.run(&fleet, 36)
            // Three of five known daemons are missing until they are forgotten.
            #expect(counts[6...20].allSatisfy { (155...165).contains($0) }, "\(counts)")
            #expect(counts[33...].allSatisfy { $0 >= 396 }, "\(counts)")
        }

        @Test func `a daemon that knows nothing takes its place without excess`() {
            var fleet = Self.fleet()
            fleet.restart(2)
            let start = fleet.now
            _ = Self.run(&fleet, 4)
            #expect(fleet.most(in: .seconds(1), from: start) <= 411)
            #expect(fleet.shares(from: start)[2] > 100)
        }
    }
}
