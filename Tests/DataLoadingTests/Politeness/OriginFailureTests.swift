// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import Testing

@Suite struct OriginFailureTests {
    private final class Load {}

    private let origin = Origin(isSecure: false, host: "a.test", port: 80)
    private let start = Instant(nanoseconds: 0)
    private let finder = Load()
    private let other = Load()

    @Test func `an outage that a load found holds for other loads for 250 ms`() {
        let health = OriginHealth(RetryConfiguration())
        #expect(health.failingOrigins == 0)
        health.noteConnectFailure(
            .connectRefused, of: origin, load: ObjectIdentifier(finder), now: start)
        for (load, time, error) in [
            (other, 0, DataLoaderError.connectRefused), (other, 249, .connectRefused),
            (other, 250, nil), (finder, 0, nil), (finder, 249, nil),
        ] as [(Load, Int64, DataLoaderError?)] {
            let found = health.recentFailure(
                of: origin, for: ObjectIdentifier(load), now: start + ms(time))
            #expect(found == error)
        }
        let elsewhere = Origin(isSecure: true, host: "a.test", port: 80)
        #expect(
            health.recentFailure(of: elsewhere, for: ObjectIdentifier(other), now: start) == nil)
    }

    @Test func `a response ends an outage and another failure renews it`() {
        let health = OriginHealth(RetryConfiguration())
        health.noteConnectFailure(.dns, of: origin, load: ObjectIdentifier(finder), now: start)
        health.noteConnectFailure(
            .connectTimeout, of: origin, load: ObjectIdentifier(other), now: start + ms(200))
        let now = start + ms(449)
        #expect(
            health.recentFailure(of: origin, for: ObjectIdentifier(finder), now: now)
                == .connectTimeout)
        health.noteResponse(from: origin)
        #expect(health.recentFailure(of: origin, for: ObjectIdentifier(finder), now: now) == nil)
        #expect(health.failingOrigins == 0)
    }

    @Test func `outages of ever new origins take bounded memory, and the newest is kept`() {
        let health = OriginHealth(RetryConfiguration())
        for port in UInt16(1)...3_000 {
            health.noteConnectFailure(
                .dns, of: Origin(isSecure: false, host: "a.test", port: port),
                load: ObjectIdentifier(finder), now: start)
        }
        #expect((1...1_000).contains(health.failingOrigins))
        // The next loads need the newest finding.
        let last = Origin(isSecure: false, host: "a.test", port: 3_000)
        #expect(health.recentFailure(of: last, for: ObjectIdentifier(other), now: start) == .dns)
    }
}
