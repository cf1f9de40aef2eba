// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

/// A daemon whose store is back uses its own share until the first slot of the line starts.
@Suite struct OwnShareTests {
    private static let rate = 10.0
    private let key: RuleKey
    private let rule: RateRule
    /// One of two daemons, which may start a load each 200 ms without a store.
    private var table: RateTable

    init() throws {
        key = try #require([RuleKey].make(1).first)
        rule = try .tenPerSecond()
        table = RateTable(defaultRule: rule)
        table.share(.ofTwo)
    }

    /// Loses the store, starts two loads with the own share, and lets the store come back.
    private mutating func returned(at now: Instant) {
        table.shared?.lose(at: .at(0))
        #expect(table.reserve(key, at: .at(0)) == .granted)
        #expect(table.reserve(key, at: .at(100)) == .wait(until: .at(200)))
        #expect(table.reserve(key, at: .at(200)) == .granted)
        let isReturn = table.shared?.storeHeard(at: now)
        #expect(isReturn == true)
    }

    /// Asks for slots at an instant, and is given one that starts at another.
    private mutating func lease(
        _ count: Int = 1, at now: Instant, start: Instant, interval: Duration = ms(100)
    ) throws {
        #expect(table.reserve(key, at: now) == .paused)
        table.shared?.prepare(key)
        let demand = SlotDemand(count: 2, latest: .distantFuture)
        let begun = try #require(table.shared?.begin(key, rule, demand, at: now) ?? nil)
        let lease = QuotaLease(
            count: count, firstStart: start - now, interval: interval, lead: start - now,
            gate: .zero)
        _ = table.shared?.answered(key, begun.number, lease, at: now)
    }

    @Test mutating func `it leaves its interval before the first slot`() throws {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(850))
        #expect(table.reserve(key, at: .at(250)) == .wait(until: .at(400)))
        #expect(table.reserve(key, at: .at(400)) == .granted)
        #expect(table.reserve(key, at: .at(410)) == .wait(until: .at(600)))
        #expect(table.reserve(key, at: .at(600)) == .granted)
        // Early enough to ask whether the key is still open.
        #expect(table.reserve(key, at: .at(610)) == .wait(until: .at(800)))
    }

    @Test mutating func `the last slot of its own ends where the line begins`() throws {
        returned(at: .at(500))
        try lease(at: .at(500), start: .at(599))
        #expect(table.reserve(key, at: .at(510)) == .wait(until: .at(599)))
        #expect(table.reserve(key, at: .at(599)) == .granted)
        // From now on there is the line only.
        #expect(table.reserve(key, at: .at(600)) == .paused)
    }

    @Test mutating func `loads are told the slots of both`() throws {
        returned(at: .at(250))
        try lease(2, at: .at(250), start: .at(600))
        let starts = (0..<4).map { table.start(key, position: $0, at: .at(250)) }
        #expect(starts == [.at(400), .at(600), .at(700), .at(800)])
    }

    @Test mutating func `a key whose loads have used no share for long waits for the line`() throws
    {
        returned(at: .at(250))
        try lease(at: .at(5_000), start: .at(5_090))
        #expect(table.reserve(key, at: .at(5_000)) == .wait(until: .at(5_090)))
    }

    @Test mutating func `a key that was not used while the store was gone waits for the line`()
        throws
    {
        table.shared?.lose(at: .at(0))
        let isReturn = table.shared?.storeHeard(at: .at(250))
        #expect(isReturn == true)
        try lease(at: .at(250), start: .at(340))
        #expect(table.reserve(key, at: .at(250)) == .wait(until: .at(340)))
    }

    @Test mutating func `a gate holds for it`() throws {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(900))
        let isChange = table.close(key, for: ms(500), at: .at(260))
        #expect(isChange)
        #expect(table.reserve(key, at: .at(420)) == .wait(until: .at(760)))
    }

    @Test mutating func `a gate that is known holds for the slots that loads are told`() throws {
        returned(at: .at(250))
        try lease(2, at: .at(250), start: .at(600))
        _ = table.close(key, for: ms(1_000), at: .at(260))
        #expect(table.start(key, position: 0, at: .at(260)) == .at(1_260))
    }

    @Test mutating func `slots that are given up do not end the share`() throws {
        returned(at: .at(250))
        // At the half of the rate, as long as only one of the two is there.
        try lease(2, at: .at(250), start: .at(10_000), interval: ms(200))
        #expect(table.reserve(key, at: .at(260)) == .wait(until: .at(400)))
        table.shared?.orderHeartbeat()
        let number = try #require(table.shared?.beginHeartbeat(at: .at(300)) ?? nil)
        let isChange = table.shared?.heartbeatAnswered(
            number, FleetView(present: 2, known: 2), at: .at(300), chance: 0)
        #expect(isChange == true)
        try lease(at: .at(310), start: .at(1_000))
        #expect(table.reserve(key, at: .at(310)) == .wait(until: .at(400)))
        #expect(table.reserve(key, at: .at(400)) == .granted)
    }

    @Test mutating func `a share does not begin again where slots were dropped`() throws {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(300))
        // The load that waited for the slot was cancelled.
        try lease(at: .at(5_000), start: .at(5_090))
        #expect(table.reserve(key, at: .at(5_000)) == .wait(until: .at(5_090)))
    }
}
