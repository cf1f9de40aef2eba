// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

extension LongComputations {
    /// How many calls a store has to carry out: the arithmetic of the article about shared rates.
    @Suite struct FleetSizeTests {
        struct Fleet: Sendable {
            let daemons: Int
            let rate: Double

            /// A lease has the slots of a daemon's share of the window of 100 ms, and one at least.
            var leasesPerSecond: Double {
                rate / max(1, (rate / 10 / Double(daemons)).rounded(.down))
            }
        }

        @Test(arguments: [
            Fleet(daemons: 4, rate: 10), Fleet(daemons: 16, rate: 100),
            Fleet(daemons: 16, rate: 1_000),
            Fleet(daemons: 16, rate: 3_200), Fleet(daemons: 64, rate: 100),
            Fleet(daemons: 64, rate: 1_000), Fleet(daemons: 64, rate: 2_560),
        ])
        func `busy daemons call as often as the arithmetic says`(_ expected: Fleet) {
            var fleet = VirtualFleet(expected.daemons, rate: expected.rate)
            for index in fleet.daemons.indices { fleet.daemons[index].faults.delay = 200_000 }
            fleet.keepBusy(0..<expected.daemons)
            fleet.run(for: .seconds(6))
            let (operations, heartbeats) = (fleet.operations, fleet.heartbeats)
            fleet.run(for: .seconds(5))
            let leases = Double(fleet.operations - operations) / 5
            let beats = Double(fleet.heartbeats - heartbeats) / 5
            #expect(
                abs(leases / expected.leasesPerSecond - 1) <= 0.1,
                "\(leases) instead of \(expected.leasesPerSecond)")
            #expect(
                abs(beats / Double(expected.daemons) - 1) <= 0.05,
                "\(beats) heartbeats of \(expected.daemons) daemons")
        }

        @Test func `a load that is alone takes one call`() {
            var fleet = VirtualFleet(16, rate: 1_000)
            fleet.run(for: .seconds(4))
            let before = fleet.operations
            for number in 0..<200 {
                fleet.perform(1, at: number % 16)
                fleet.run(for: .milliseconds(20))
            }
            #expect(fleet.daemons.reduce(0) { $0 + $1.admitted } == 200)
            #expect(fleet.operations - before == 200)
        }

        @Test func `daemons without loads send nothing but heartbeats`() {
            var fleet = VirtualFleet(16, rate: 1_000)
            fleet.run(for: .seconds(10))
            #expect(fleet.operations == 0)
            #expect((144...176).contains(fleet.heartbeats))
        }
    }
}
