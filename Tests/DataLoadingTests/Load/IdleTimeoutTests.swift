// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The idle limit of a single request.
@Suite struct IdleTimeoutTests {
    @Test func `a request's own idle limit is used in place of the service's in every attempt`() {
        let bed = TestBed([.respond(status: 302, headers: ["Location": "http://other.test/"])]) {
            $0.timeouts.idle = .seconds(7)
        }
        bed.loader.perform(.make { $0.idleTimeout = .seconds(600) })
        bed.loader.perform(.make())
        bed.settle()
        let limits = Dictionary(
            grouping: bed.transport.attempts.map(\.request.idleTimeout), by: { $0 })
        #expect(limits.mapValues(\.count) == [.seconds(600): 2, .seconds(7): 1])
    }

    // Five in a row eject an address. The limit of one impatient request is no sign of its state.
    @Test(arguments: [nil, Duration.seconds(1), .seconds(7), .seconds(8)])
    func `an idle limit that is shorter than the service's ejects no address`(limit: Duration?) {
        let bed = TestBed(otherwise: .fail(.idleTimeout, sent: .written)) {
            $0.timeouts.idle = .seconds(7)
        }
        bed.service.resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "origin.test")
        for _ in 0..<6 {
            bed.loader.perform(
                .make {
                    $0.method = .post
                    $0.idleTimeout = limit
                })
            bed.settle()
        }
        let addresses = bed.transport.attempts.map(\.request.address)
        let last = limit == .seconds(1) ? "10.0.0.1" : "10.0.0.2"
        #expect(addresses == Array(repeating: "10.0.0.1", count: 5) + [last])
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(Int64.min)])
    func `a load whose idle limit is zero or less is refused before anything is sent`(
        limit: Duration
    ) {
        let bed = TestBed()
        bed.loader.perform(.make { $0.idleTimeout = limit })
        #expect(bed.error == .invalidRequest(.setting(name: "idleTimeout")))
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }
}
