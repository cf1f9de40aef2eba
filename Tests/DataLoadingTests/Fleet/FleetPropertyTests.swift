// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

extension LongComputations {
    /// Random fleets of 2 to 16 daemons whose store, ways and clocks fail.
    @Suite struct FleetPropertyTests {
        @Test
        func `a fleet with random faults keeps its rate in every window and starves no daemon`()
            async
        {
            for index in 0..<max(1, propertyCases / 100) {
                property(cases: 1, seed: 20_260_101 &+ UInt64(index)) { RandomFleet.judge(&$0) }
                // A case takes a tenth of a second, for which another test waits.
                await Task.yield()
            }
        }
    }
}
