// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingFleet
import DataLoadingSupport
import Testing

@Suite struct FleetCountsTests {
    private static func instant(_ seconds: Int64) -> Instant {
        Instant(nanoseconds: seconds * 1_000_000_000)
    }

    private static func pulse(
        _ present: Int, known: Int? = nil, departures: Int64 = 0
    ) -> FleetCounts.Pulse {
        FleetCounts.Pulse(present: present, known: known ?? present, departures: departures)
    }

    @Test func `a store that has lost everything makes nobody forget the others for 30 s`() {
        var counts = FleetCounts()
        #expect(counts.known(at: Self.instant(0)) == 0)
        counts.add(Self.pulse(8), at: Self.instant(0))
        counts.add(Self.pulse(1), at: Self.instant(1))
        #expect(counts.known(at: Self.instant(30)) == 8)
        #expect(counts.known(at: Self.instant(31)) == 1)
    }

    @Test func `a daemon that crashed is known for 30 s, also by one that has just begun`() {
        var counts = FleetCounts()
        counts.add(Self.pulse(1, known: 2), at: Self.instant(20))
        #expect(counts.known(at: Self.instant(20)) == 2)
        counts.add(Self.pulse(1, known: 1), at: Self.instant(31))
        #expect(counts.known(at: Self.instant(31)) == 1)
    }

    @Test func `a daemon that has said goodbye is not known any more`() {
        var counts = FleetCounts()
        counts.add(Self.pulse(8, departures: 3), at: Self.instant(0))
        counts.add(Self.pulse(6, departures: 5), at: Self.instant(1))
        #expect(counts.known(at: Self.instant(1)) == 6)
        // A store that was emptied counts goodbyes from zero.
        counts.add(Self.pulse(2, departures: 0), at: Self.instant(2))
        #expect(counts.known(at: Self.instant(2)) == 8)
    }

    @Test func `heartbeats that come fast are bounded, and nobody is known when they are old`() {
        var counts = FleetCounts()
        for _ in 0..<1_000 { counts.add(Self.pulse(3), at: Self.instant(5)) }
        #expect(counts.known(at: Self.instant(6)) == 3)
        #expect(counts.known(at: Self.instant(40)) == 0)
    }

    @Test(arguments: [
        RESPValue.null, .array([]), .number(1), .simple("OK"),
        .array([.number(2), .number(1), .number(0), .array([]), .number(5), .number(0)]),
        .array([.number(-1), .number(1), .number(0), .array([]), .number(5), .number(0)]),
        .array([.number(1), .number(1), .number(-1), .array([]), .number(5), .number(0)]),
        .array([.number(1), .number(1), .number(0), .null, .number(5), .number(0)]),
        .array([.number(1), .number(1), .number(0), .array([])]),
        .array([.number(1), .number(1), .number(0), .array([]), .null, .number(0)]),
        .array([.number(1), .number(1), .number(0), .array([]), .number(5), .null]),
    ])
    func `a reply that is no heartbeat's is an error`(_ reply: RESPValue) {
        #expect(throws: FleetReplyError.self) { try FleetPulse(reply) }
    }

    @Test func `daemons that were present stay so when a store has lost them a moment ago`() {
        var counts = FleetCounts()
        counts.add(Self.pulse(1), isEmptied: true, at: Self.instant(0))
        #expect(counts.present == 1)
        counts.add(Self.pulse(8), at: Self.instant(1))
        counts.add(Self.pulse(1), isEmptied: true, at: Self.instant(2))
        #expect(counts.present == 8)
        counts.add(Self.pulse(3), at: Self.instant(3))
        #expect(counts.present == 3)
        counts.add(Self.pulse(1), isEmptied: true, at: Self.instant(5))
        #expect(counts.present == 1)
    }

    @Test func `the time of a server goes on with the daemon's own clock`() {
        let time = ServerTime(1_000_000, received: Self.instant(10))
        #expect(time.time(at: Self.instant(10)) == 1_000_000)
        #expect(time.time(at: Self.instant(12)) == 3_000_000)
        #expect(time.time(at: Self.instant(9)) == 1_000_000)
        #expect(time.time(at: Self.instant(69)) == 60_000_000)
        #expect(time.time(at: Self.instant(70)) == nil)
        let last = ServerTime(.max, received: Self.instant(10))
        #expect(last.time(at: Self.instant(12)) == .max)
    }

    @Test func `gates are read with their keys, and what nobody has written is left out`() throws {
        let names = [
            "https 443 a.test", "http 8080 [::1] part of a path", "ftp 21 a.test", "https 70000 a",
            "https 443", "",
        ]
        let list = names.flatMap { [RESPValue.bulk(Array($0.utf8)), .number(2_000_000)] }
        let pulse = try FleetPulse(
            .array([
                .number(1), .number(2), .number(0), .array(list + [.number(1), .null]), .number(5),
                .number(1),
            ]))
        #expect(pulse.time == 5 && pulse.isNew)
        #expect(
            pulse.gates == [
                QuotaKey(scheme: "https", host: "a.test", port: 443): .seconds(2),
                QuotaKey(
                    scheme: "http", host: "[::1]", port: 8_080, pathComponent: "part of a path"):
                    .seconds(2),
            ])
    }
}
