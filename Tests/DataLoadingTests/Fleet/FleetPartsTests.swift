// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import Testing

/// The parts of a limiter that shares its rates.
@Suite struct FleetPartsTests {
    private func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func `slots are used in order, and those that are too late are dropped`() {
        var slots = LeasedSlots()
        slots.add(5, from: at(10), every: ms(10), arrival: at(0), confirmed: at(0))
        #expect(slots.first(at: at(5)) == .later(at(10)))
        #expect(slots.first(at: at(10)) == .due)
        slots.take()
        #expect(slots.drop(at: at(45), notBefore: nil) == 0)
        #expect(slots.drop(at: at(46), notBefore: nil) == 1)
        #expect(slots.start(position: 0) == at(30))
        #expect(slots.start(position: 2) == at(50))
        #expect(slots.start(position: 3) == nil)
        #expect(slots.drop(at: at(46), notBefore: at(45)) == 0)
        #expect(slots.count == 1 && slots.end == at(50))
    }

    @Test func `all slots of a burst are used at once`() {
        var slots = LeasedSlots()
        slots.add(3, from: at(-200), every: ms(100), arrival: at(50), confirmed: at(50))
        for _ in 0..<3 {
            #expect(slots.first(at: at(60)) == .due)
            slots.take()
        }
        #expect(slots.first(at: at(60)) == .none)
    }

    @Test func `the slots of a burst count as due when they arrive`() {
        var slots = LeasedSlots()
        slots.add(3, from: at(-200), every: ms(100), arrival: at(50), confirmed: at(50))
        #expect(slots.drop(at: at(60), notBefore: nil) == 0)
        #expect(slots.first(at: at(60)) == .due)
        #expect(slots.count == 3)
    }

    @Test func `a slot that was leased long ago must be confirmed`() {
        var slots = LeasedSlots()
        slots.add(1, from: at(500), every: ms(100), arrival: at(1), confirmed: at(0))
        #expect(!slots.mustBeConfirmed(at: at(100), within: ms(100)))
        #expect(slots.mustBeConfirmed(at: at(500), within: ms(100)))
        slots.confirm(at: at(450))
        #expect(!slots.mustBeConfirmed(at: at(500), within: ms(100)))
    }

    @Test func `a slot of any length and number overflows nothing`() {
        var slots = LeasedSlots()
        slots.add(
            .max, from: at(0), every: .nanoseconds(Int64.max), arrival: at(0), confirmed: at(0))
        #expect(slots.drop(at: at(1), notBefore: at(2)) == 0)
        #expect(slots.end == .distantFuture)
        slots.take()
        #expect(slots.first(at: at(1)) == .later(.distantFuture))
    }

    @Test func `a question is under way once, and an answer after its time does not count`() {
        var exchange = QuotaExchange.none
        #expect(exchange.order() == true)
        #expect(exchange.order() == false)
        #expect(exchange.begin(1, at: at(5)) == true)
        #expect(exchange.begin(2, at: at(6)) == false)
        #expect(exchange.end(2) == nil)
        #expect(exchange.end(1) == at(5))
        #expect(exchange.order() == true)
        #expect(exchange.begin(3, at: at(7)) == true)
        #expect(exchange.expire(3) == true)
        #expect(exchange.expire(3) == false)
        #expect(exchange.order() == false)
        #expect(exchange.end(3) == nil)
        #expect(exchange == .none)
    }

    @Test func `a store is lost once and back with its first answer`() {
        var circuit = FleetCircuit()
        circuit.failed(sentAt: at(10))
        circuit.failed(sentAt: at(20))
        #expect(circuit.end(of: ms(250)) == at(260))
        circuit.lose(at: at(260))
        #expect(circuit.mode(.share(for: ms(100)), at: at(359)) == .share(since: at(260)))
        #expect(circuit.mode(.share(for: ms(100)), at: at(360)) == .paused)
        #expect(circuit.mode(.pause, at: at(260)) == .paused)
        #expect(circuit.answered(at: at(360)) == true)
        #expect(circuit.answered(at: at(361)) == false)
        #expect(circuit.mode(.pause, at: at(400)) == .shared)
    }

    @Test(arguments: [(0, 250), (1, 100), (25, 100), (40, 160), (90, 250)])
    func `a store that is usually quick is waited for less`(_ trip: Int64, _ patience: Int64) {
        var shared = SharedRates(
            policy: .share(for: nil), window: ms(100), expectedMembers: 2)
        shared.roundTrip = ms(trip)
        #expect(shared.patience == ms(patience))
    }

    @Test func `the rate is divided among those expected for the first second`() {
        var members = FleetMembers(expected: 8)
        #expect(members.known == 8 && members.present == 1)
        members.saw(FleetView(present: 2, known: 2), at: at(10))
        #expect(members.known == 8 && members.portion == 0.25)
        members.saw(FleetView(present: 3, known: 3), at: at(160))
        #expect(members.known == 8 && members.portion == 0.375)
        members.saw(FleetView(present: 4, known: 4), at: at(1_010))
        #expect(members.known == 4 && members.portion == 1)
        members.saw(FleetView(present: -1, known: .max), at: at(2_010))
        #expect(members.known == 1_000_000 && members.present == 1)
    }

    // As after SIGSTOP, when the answer is read before the limit's timer.
    @Test func `slots are not used when their answer is read seconds after the question`() throws {
        for (milliseconds, isGranted) in [(250, true), (10_000, false)] as [(Int64, Bool)] {
            var shared = SharedRates.ofTwo
            let key = [RuleKey].make(1)[0]
            _ = shared.reserve(key, requestsPerSecond: 10, notBefore: nil, at: .at(0))
            shared.prepare(key)
            let demand = SlotDemand(count: 1, latest: .distantFuture)
            let begun = try #require(
                shared.begin(key, try RateRule.tenPerSecond(), demand, at: .at(0)))
            let lease = QuotaLease(
                count: 1, firstStart: .zero, interval: ms(100), lead: ms(100), gate: .zero)
            _ = shared.answered(key, begun.number, lease, at: .at(milliseconds))
            #expect(shared.leasedCount == (isGranted ? 1 : 0))
        }
    }
}
