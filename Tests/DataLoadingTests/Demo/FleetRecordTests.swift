// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingFleet
import Testing

@testable import FeedDaemon

@Suite struct FleetRecordTests {
    private func record(_ states: (FleetState, at: Int)...) throws -> FleetRecord {
        var record = FleetRecord(endpoint: try RedisEndpoint("redis://r.test"))
        for (state, time) in states { record.learn(state, at: .seconds(time)) }
        return record
    }

    @Test func `the report says with how many daemons rates were shared`() throws {
        let record = try record(
            (.shared(members: 1), at: 0), (.shared(members: 3), at: 1), (.shared(members: 2), at: 9)
        )
        #expect(
            record.text(until: .seconds(10))
                == "rates shared by up to 3 daemons through redis://r.test:6379")
        #expect(
            try self.record((.shared(members: 1), at: 0)).text(until: .seconds(1))
                == "rates shared by this daemon only through redis://r.test:6379")
    }

    @Test func `the report says for how long the daemon was on its own share`() throws {
        let record = try record(
            (.shared(members: 2), at: 0), (.ownShare(of: 2), at: 2), (.ownShare(of: 1), at: 3),
            (.shared(members: 2), at: 4), (.ownShare(of: 2), at: 8))
        #expect(
            record.text(until: .seconds(9))
                == "rates shared by up to 2 daemons through redis://r.test:6379; "
                + "on its own share for 3.0 s, and at the end")
        #expect(
            try self.record((.ownShare(of: 2), at: 1)).text(until: .seconds(9))
                == "redis://r.test:6379 never answered; the daemon used its own share of each rate")
    }

    @Test func `the states are told in words`() {
        #expect(FleetState.shared(members: 2).text == "shares its rates with 1 other daemon")
        #expect(FleetState.shared(members: 3).text == "shares its rates with 2 other daemons")
        #expect(
            FleetState.ownShare(of: 3).text
                == "does not reach Redis, and uses its own share: 1/3 of each rate")
    }

    @Test func `arrivals are counted from the first, and within any second`() {
        let begun = ContinuousClock.now
        var arrivals = Arrivals()
        #expect(arrivals.text == "requests: 0")
        for time in [0, 100, 200, 1_050, 2_000] { arrivals.add(begun + .milliseconds(time)) }
        #expect(
            arrivals.text == "requests: 5 in 2.0 s, 2 a second, at most 3 within a second")
    }
}
