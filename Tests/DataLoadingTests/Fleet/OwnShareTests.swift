// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

/// A daemon whose store is back uses its own share until the first slot of the line starts.
@Suite struct OwnShareTests {
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

    /// Asks for slots at an instant.
    private mutating func ask(
        at now: Instant, answer: Reservation = .paused
    ) throws -> UInt64 {
        #expect(table.reserve(key, at: now) == answer)
        table.shared?.prepare(key)
        let demand = SlotDemand(count: 2, latest: .distantFuture)
        return try #require(table.shared?.begin(key, rule, demand, at: now) ?? nil).number
    }

    /// Asks for slots at an instant, and is given some that start at another.
    private mutating func lease(
        _ count: Int = 1, at now: Instant, start: Instant, interval: Duration = ms(100),
        answer: Reservation = .paused
    ) throws {
        let number = try ask(at: now, answer: answer)
        let lease = QuotaLease(
            count: count, firstStart: start - now, interval: interval, lead: start - now,
            gate: .zero)
        _ = table.shared?.answered(key, number, lease, at: now)
    }

    /// Sends a heartbeat that is answered at once; returns whether loads are to ask again.
    @discardableResult private mutating func beat(
        _ view: FleetView, at now: Instant
    ) throws -> Bool {
        table.shared?.orderHeartbeat()
        let number = try #require(table.shared?.beginHeartbeat(at: now) ?? nil)
        return table.shared?.heartbeatAnswered(number, view, at: now, chance: 0) ?? false
    }

    @Test mutating func `the last load of its own leaves its interval before the line begins`()
        throws
    {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(800))
        #expect(table.reserve(key, at: .at(250)) == .wait(until: .at(400)))
        #expect(table.reserve(key, at: .at(400)) == .granted)
        #expect(table.reserve(key, at: .at(410)) == .wait(until: .at(600)))
        #expect(table.reserve(key, at: .at(600)) == .granted)
        // Early enough to ask whether the key is still open.
        #expect(table.reserve(key, at: .at(610)) == .wait(until: .at(750)))
        #expect(table.reserve(key, at: .at(750)) == .wait(until: .at(800)))
    }

    @Test mutating func `no load of its own comes closer to the line`() throws {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(799))
        #expect(table.reserve(key, at: .at(400)) == .granted)
        #expect(table.reserve(key, at: .at(600)) == .wait(until: .at(749)))
    }

    @Test mutating func `a slot that must be looked at before one of its own is`() throws {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(630))
        #expect(table.reserve(key, at: .at(250)) == .wait(until: .at(400)))
        table.shared?.keys[key]?.slots.confirm(at: .at(250))
        _ = table.reserve(key, at: .at(400))
        #expect(table.reserve(key, at: .at(400)) == .wait(until: .at(580)))
    }

    @Test mutating func `it has no share any more once the line has begun`() throws {
        returned(at: .at(250))
        try lease(2, at: .at(250), start: .at(300), interval: ms(900))
        #expect(table.reserve(key, at: .at(300)) == .granted)
        #expect(table.reserve(key, at: .at(420)) == .wait(until: .at(1_150)))
    }

    @Test mutating func `loads are told the slots of both, and have them`() throws {
        returned(at: .at(250))
        try lease(2, at: .at(250), start: .at(600))
        let starts = (0..<4).map { table.start(key, position: $0, at: .at(250)) }
        #expect(starts == [.at(400), .at(600), .at(700), .at(800)])
        #expect(table.reserve(key, at: .at(400)) == .granted)
    }

    @Test mutating func `a key whose loads have used no share for long waits for the line`() throws
    {
        returned(at: .at(250))
        try lease(at: .at(5_000), start: .at(5_600))
        #expect(table.reserve(key, at: .at(5_000)) == .wait(until: .at(5_550)))
    }

    @Test mutating func `a key that was not used while the store was gone waits for the line`()
        throws
    {
        table.shared?.lose(at: .at(0))
        let isReturn = table.shared?.storeHeard(at: .at(250))
        #expect(isReturn == true)
        try lease(at: .at(250), start: .at(900))
        #expect(table.reserve(key, at: .at(250)) == .wait(until: .at(850)))
    }

    @Test(arguments: [(10_000, waits: 400), (240, waits: 850)] as [(limit: Int64, waits: Int64)])
    mutating func `a share that has ended does not begin again`(
        limit: Int64, waits: Int64
    ) throws {
        table.share(
            SharedRates(
                policy: .share(for: ms(limit)), window: ms(100), expectedMembers: 2))
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(900))
        #expect(table.reserve(key, at: .at(250)) == .wait(until: .at(waits)))
    }

    @Test mutating func `a share does not begin again where slots were dropped`() throws {
        returned(at: .at(250))
        // The load that waited for the first is cancelled.
        try lease(2, at: .at(250), start: .at(350), interval: ms(900))
        #expect(table.reserve(key, at: .at(2_200)) == .paused)
        try lease(at: .at(2_200), start: .at(2_900))
        #expect(table.reserve(key, at: .at(2_200)) == .wait(until: .at(2_850)))
    }

    @Test(arguments: [1_200, 900] as [Int64])
    mutating func `the share continues after a gate if the line does not begin before`(
        start: Int64
    ) throws {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(start))
        let isChange = table.close(key, for: ms(500), at: .at(260))
        #expect(isChange)
        #expect(table.reserve(key, at: .at(420)) == .wait(until: .at(760)))
        let fits = start == 1_200
        #expect(table.start(key, position: 0, at: .at(420)) == .at(fits ? 760 : start))
        let answer = table.reserve(key, at: .at(760))
        #expect(answer == (fits ? .granted : .wait(until: .at(start - 50))))
    }

    @Test mutating func `slots that are given up do not end the share`() throws {
        returned(at: .at(250))
        // At the half of the rate, as long as only one of the others is there.
        try lease(2, at: .at(250), start: .at(10_000), interval: ms(200))
        #expect(table.reserve(key, at: .at(260)) == .wait(until: .at(400)))
        let isChange = try beat(FleetView(present: 2, known: 3), at: .at(300))
        #expect(isChange)
        try lease(at: .at(310), start: .at(1_000))
        #expect(table.reserve(key, at: .at(310)) == .wait(until: .at(400)))
        #expect(table.reserve(key, at: .at(400)) == .granted)
    }

    @Test(arguments: [(present: 1, waits: 400), (2, 850)] as [(present: Int, waits: Int64)])
    mutating func `a line that all daemons have leased leaves no room for a share`(
        present: Int, waits: Int64
    ) throws {
        returned(at: .at(250))
        try beat(FleetView(present: present, known: 2), at: .at(250))
        try lease(at: .at(250), start: .at(900))
        #expect(table.reserve(key, at: .at(250)) == .wait(until: .at(waits)))
    }

    @Test(arguments: [1_200, 1_800] as [Int64])
    mutating func `a daemon that the others still count waits for the line`(
        back: Int64
    ) throws {
        try beat(FleetView(present: 1, known: 2), at: .at(0))
        table.shared?.lose(at: .at(10))
        for instant in stride(from: 10, to: back, by: 5) {
            _ = table.reserve(key, at: .at(instant))
        }
        let isReturn = table.shared?.storeHeard(at: .at(back))
        #expect(isReturn == true)
        try lease(at: .at(back), start: .at(back + 600))
        let answer = table.reserve(key, at: .at(back))
        #expect((answer == .wait(until: .at(back + 550))) == (back == 1_200), "\(answer)")
    }

    @Test mutating func `a key that was refused alone waits for the line`() throws {
        table.shared?.wasMissed = true
        let number = try ask(at: .at(0))
        _ = table.shared?.failed(key, number, at: .at(0), chance: 0)
        // About another key.
        table.shared?.lastAnswer = .at(1)
        _ = table.shared?.wake(at: .at(300), chance: 0)
        #expect(table.shared?.refusedCount == 1)
        #expect(table.reserve(key, at: .at(500)) == .granted)
        _ = table.shared?.wake(at: .at(600), chance: 0)
        try lease(at: .at(600), start: .at(1_600), answer: .wait(until: .at(700)))
        #expect(table.reserve(key, at: .at(600)) == .wait(until: .at(1_550)))
    }

    @Test mutating func `the share is as small as it was while others are not back`() throws {
        returned(at: .at(250))
        try lease(at: .at(250), start: .at(5_000))
        try beat(FleetView(present: 1, known: 1), at: .at(260))
        #expect(table.reserve(key, at: .at(400)) == .granted)
        #expect(table.reserve(key, at: .at(410)) == .wait(until: .at(600)))
        // The store has forgotten the other one, who may come back within three seconds.
        #expect(table.shared?.members.portion == 0.5)
    }

    @Test func `keys are remembered that use their shares, and others are not`() throws {
        var shared = SharedRates.ofTwo
        shared.lose(at: .at(0))
        let keys = [RuleKey].make(1_000)
        for key in keys {
            _ = shared.reserve(key, requestsPerSecond: 10, notBefore: nil, at: .at(1))
        }
        #expect(shared.keys.count == 1_000)
        for key in keys {
            _ = shared.reserve(key, requestsPerSecond: 1e-300, notBefore: nil, at: .at(500))
        }
        for key in [RuleKey].make(4_000).dropFirst(1_000) {
            _ = shared.reserve(key, requestsPerSecond: 10, notBefore: nil, at: .at(40_000))
        }
        #expect(shared.keys.count == 3_000)
    }
}
