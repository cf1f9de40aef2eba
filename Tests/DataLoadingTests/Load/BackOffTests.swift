// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Back-off comes before admission, so that a pause holds no slot.
@Suite struct BackOffTests {
    @Test func `a pause before a retry holds no slot, and other loads run during it`() {
        let bed = TestBed([.respond(status: 503), .respond(status: 200), .respond(status: 200)]) {
            $0.limits.perOrigin = 1
            $0.limits.total = 1
        }
        bed.loader.perform(
            .make("/a") { $0.retryPolicy = .constant(.seconds(30), maximumRetries: 1) })
        bed.loader.perform(.make("/b"))
        bed.settle()
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/a", "/b"])
        bed.advance(.seconds(30))
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/a", "/b", "/a"])
        #expect(bed.delegate.events.map(\.response?.request.url.path) == ["/b", "/a"])
        bed.expectNothingLeft()
    }
}
