// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Rates and gates that change while loads wait.
@Suite struct RateChangeTests {
    @Test func `a new rate for a path refuses no load that already waits in a full queue`()
        async
    {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 0)
            $0.limits.queue = 100
        }
        for _ in 0..<100 { bed.loader.perform(.make("/search/a")) }
        let other = bed.service.makeFactory().makeDataLoader()
        bed.hold(other)
        let isOver = Locked(false)
        let hasEnded = LoopbackGate()
        Thread.detachNewThread {
            // Takes every place in the queue as soon as it is free.
            for _ in 0..<20_000 where !isOver.withLock({ $0 }) {
                other.perform(.make("/other"))
            }
            hasEnded.open()
        }
        for number in 0..<50 {
            bed.service.rateLimiter.setRequestsPerSecond(
                0, forPathOf: testURL("http://origin.test/path\(number)"))
        }
        isOver.withLock { $0 = true }
        await hasEnded.opened()
        bed.settle()
        #expect(bed.delegate.events.isEmpty)
        #expect(bed.loader.currentRequests.count == 100)
        other.cancelAllLoads()
    }

    @Test func `a new rate for a path leaves the waiting loads of other origins in place`() {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1)
        }
        for path in ["/a", "/b", "/c"] {
            bed.loader.perform(.make(path, host: "http://other.test"))
        }
        bed.service.rateLimiter.setRequestsPerSecond(
            5, forPathOf: testURL("http://origin.test/search"))
        bed.clock.advance(by: .seconds(2))
        #expect(bed.starts.map(\.path) == ["/a", "/b", "/c"])
        #expect(bed.starts.map(\.at) == [0, 1_000, 2_000].map { ms($0) })
    }

    // A daemon that sets its rates each second would otherwise starve the hosts that it sets first.
    @Test(arguments: [50.0, nil, 0])
    func `a host keeps its place in the queue for a connection when its rate changes`(rate: Double?)
    {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/running"))
        let first = testURL("http://first.test")
        bed.loader.perform(.make("/a", host: "http://first.test"))
        bed.loader.perform(.make("/b", host: "http://second.test"))
        bed.settle()
        bed.service.rateLimiter.setRequestsPerSecond(rate, forHostOf: first)
        for _ in 0..<2 {
            bed.transport.attempts.last?.respond(status: 200)
            bed.settle()
        }
        let order = ["/running"] + (rate == 0 ? ["/b"] : ["/a", "/b"])
        #expect(bed.starts.map(\.path) == order)
        bed.service.rateLimiter.setRequestsPerSecond(nil, forHostOf: first)
        bed.settle()
        #expect(bed.starts.count == 3)
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `after a slower rate each waiting load is judged by its own place`() {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
        }
        for (number, timeout) in [60, 60, 3, 3, 60, 3, 60].enumerated() {
            bed.loader.perform(.make("/\(number)") { $0.timeout = .seconds(timeout) })
        }
        bed.service.rateLimiter.setRequestsPerSecond(
            0.5, forHostOf: testURL("http://origin.test"))
        bed.settle()
        // The slot that the fourth could not wait for goes to the fifth.
        let refused = bed.delegate.events.compactMap(\.response).filter { $0.error != nil }
        #expect(refused.map(\.request.url.path) == ["/3", "/5"])
        #expect(
            refused.map(\.error)
                == [4_100, 6_100].map { .rateLimited(wait: .milliseconds($0)) })
        bed.clock.advance(by: .seconds(60))
        #expect(bed.starts.map(\.path) == ["/0", "/1", "/2", "/4", "/6"])
        #expect(bed.starts.map(\.at) == [0, 100, 2_100, 4_100, 6_100].map { ms($0) })
    }

    @Test func `loads that wait for Retry-After start when it is cleared`() async {
        let bed = TestBed([.respond(status: 429, headers: ["Retry-After": "3600"])])
        let limiter = bed.service.rateLimiter
        bed.loader.perform(.make("/one"))
        bed.settle()
        bed.loader.perform(.make("/two") { $0.timeout = .seconds(7_200) })
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        limiter.clearRetryAfter(for: testURL("http://other.test"))
        #expect(bed.transport.attempts.count == 1)
        limiter.clearRetryAfter(for: testURL("http://origin.test/anything"))
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/one", "/two"])
        #expect(limiter.earliestTimeUntilRequestCanBeExecuted(.make()) == .zero)
        try? limiter.setRetryAfter(.seconds(30), for: testURL("http://origin.test"))
        #expect(limiter.earliestTimeUntilRequestCanBeExecuted(.make()) == .seconds(30))
        bed.loader.cancelAllLoads()
    }
}
