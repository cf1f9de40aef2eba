// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Random fleets of 2 to 16 daemons whose store, ways and clocks fail.
@Suite struct FleetPropertyTests {
    @Test func `a fleet with random faults keeps its rate in every window and starves no daemon`() {
        property(cases: max(1, propertyCases / 70)) { RandomFleet.judge(&$0) }
    }
}
