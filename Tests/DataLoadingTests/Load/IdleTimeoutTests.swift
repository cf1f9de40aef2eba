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
