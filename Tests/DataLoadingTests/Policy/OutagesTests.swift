// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Testing

@Suite struct OutagesTests {
    private final class Load {}

    private let origin = Origin(isSecure: false, host: "a.test", port: 80)
    private let start = Instant(nanoseconds: 0)
    private let finder = Load()
    private let other = Load()

    @Test func `what a load found holds for the others, for 250 ms, and never for itself`() {
        let outages = Outages()
        #expect(outages.isEmpty)
        outages.begin(
            origin, error: .connectRefused, load: ObjectIdentifier(finder), now: start)
        for (load, time, error) in [
            (other, 0, DataLoaderError.connectRefused), (other, 249, .connectRefused),
            (other, 250, nil), (finder, 0, nil), (finder, 249, nil),
        ] as [(Load, Int64, DataLoaderError?)] {
            let found = outages.finding(
                of: origin, for: ObjectIdentifier(load), now: start + ms(time))
            #expect(found == error)
        }
        let elsewhere = Origin(isSecure: true, host: "a.test", port: 80)
        #expect(
            outages.finding(of: elsewhere, for: ObjectIdentifier(other), now: start) == nil)
    }

    @Test func `an answer ends it, and another failure renews it`() {
        let outages = Outages()
        outages.begin(origin, error: .dns, load: ObjectIdentifier(finder), now: start)
        outages.begin(
            origin, error: .connectTimeout, load: ObjectIdentifier(other), now: start + ms(200))
        let now = start + ms(449)
        #expect(
            outages.finding(of: origin, for: ObjectIdentifier(finder), now: now)
                == .connectTimeout)
        outages.end(origin)
        #expect(outages.finding(of: origin, for: ObjectIdentifier(finder), now: now) == nil)
        #expect(outages.isEmpty)
    }

    @Test func `ever new origins fill no memory, and the newest is remembered`() {
        let outages = Outages()
        for port in UInt16(1)...3_000 {
            outages.begin(
                Origin(isSecure: false, host: "a.test", port: port), error: .dns,
                load: ObjectIdentifier(finder), now: start)
        }
        #expect((1...1_000).contains(outages.count))
        // What was found last is what the next loads want to know.
        let last = Origin(isSecure: false, host: "a.test", port: 3_000)
        #expect(outages.finding(of: last, for: ObjectIdentifier(other), now: start) == .dns)
    }
}
