// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Replacing all rates, or all addresses, at once.
@Suite struct RateReplacementTests {
    private let clock = ManualClock()

    private func limiter(_ perSecond: Double?) -> RateLimiter {
        let limiter = RateLimiter(defaultRequestsPerSecond: perSecond)
        limiter.adopt(clock.timekeeper)
        return limiter
    }

    private let host = testURL("https://a.test/")
    private let search = testURL("https://a.test/search/x")
    private let other = testURL("https://b.test/")

    @Test func `rates that are not in the new settings are gone, and so are malformed ones`() throws
    {
        let limiter = limiter(10)
        limiter.setRequestsPerSecond(5, forHostOf: host)
        limiter.setRequestsPerSecond(2, forPathOf: search)
        limiter.setRequestsPerSecond(.nan, forHostOf: other)
        #expect(throws: DataLoaderError.malformedRate) { try limiter.validate() }
        try limiter.replaceRates(
            [.host(of: other, requestsPerSecond: 7, burst: 3)], defaultRequestsPerSecond: 1)
        try limiter.validate()
        #expect(limiter.requestsPerSecond(for: search) == 1)
        #expect(limiter.requestsPerSecond(for: host) == 1)
        #expect(limiter.requestsPerSecond(for: other) == 7)
        try limiter.replaceRates(
            [.path(of: search, requestsPerSecond: 2), .path(of: search, requestsPerSecond: 3)],
            defaultRequestsPerSecond: nil)
        #expect(limiter.requestsPerSecond(for: search) == 3)
        #expect(limiter.requestsPerSecond(for: other) == nil)
    }

    @Test func `with one malformed setting nothing changes`() throws {
        let limiter = limiter(10)
        limiter.setRequestsPerSecond(5, forHostOf: host)
        let root = host
        let bad: [(RateLimiter.Setting, DataLoaderError)] = [
            (.host(of: other, requestsPerSecond: -1), .malformedRate),
            (.host(of: other, requestsPerSecond: 1, burst: 0), .malformedBurst),
            (.path(of: root, requestsPerSecond: 1), .missingRatedPath),
            (.host(of: testURL("ftp://a.test"), requestsPerSecond: 1), .malformedRatedURL),
        ]
        for (setting, fault) in bad {
            #expect(throws: fault) {
                try limiter.replaceRates(
                    [.host(of: root, requestsPerSecond: 1), setting], defaultRequestsPerSecond: 2)
            }
        }
        #expect(throws: DataLoaderError.malformedRate) {
            try limiter.replaceRates([], defaultRequestsPerSecond: .infinity)
        }
        #expect(limiter.requestsPerSecond(for: root) == 5)
        #expect(limiter.requestsPerSecond(for: other) == 10)
    }

    @Test func `a key keeps the slots that were taken, at the new rate`() throws {
        let limiter = limiter(nil)
        limiter.setRequestsPerSecond(1, forHostOf: host)
        let key = limiter.ruleKey(for: try RequestTarget(host))
        #expect(limiter.reserve(key) == .granted)
        try limiter.replaceRates(
            [.host(of: host, requestsPerSecond: 10)], defaultRequestsPerSecond: nil)
        #expect(limiter.reserve(key) == .wait(until: Instant(nanoseconds: 100_000_000)))
        // The rule that the key remembers is the new one, also when that is the default.
        try limiter.replaceRates([], defaultRequestsPerSecond: 4)
        clock.advance(by: ms(100))
        #expect(limiter.reserve(key) == .granted)
        #expect(limiter.wait(for: key, position: 0) == ms(250))
        try limiter.replaceRates([], defaultRequestsPerSecond: nil)
        for _ in 0..<10 { #expect(limiter.reserve(key) == .granted) }
        try limiter.replaceRates([], defaultRequestsPerSecond: 0)
        #expect(limiter.reserve(key) == .paused)
    }

    @Test func `the debt of a limit that was lifted does not prolong a Retry-After`() throws {
        let limiter = limiter(nil)
        limiter.setRequestsPerSecond(1, burst: 100, forHostOf: host)
        let key = limiter.ruleKey(for: try RequestTarget(host))
        for _ in 0..<100 { #expect(limiter.reserve(key) == .granted) }
        limiter.setRequestsPerSecond(nil, forHostOf: host)
        try limiter.setRetryAfter(.seconds(1), for: host)
        #expect(limiter.wait(for: key, position: 0) == .seconds(1))
        #expect(limiter.reserve(key) == .wait(until: Instant(nanoseconds: 1_000_000_000)))
        clock.advance(by: .seconds(1))
        #expect(limiter.reserve(key) == .granted)
        // A tenth of a second, at ten requests a second.
        #expect(limiter.reserve(key) == .wait(until: Instant(nanoseconds: 1_100_000_000)))
        clock.advance(by: ms(100))
        #expect(limiter.reserve(key) == .granted)
        // A limit that holds again has the debt of its loads.
        clock.advance(by: .seconds(20))
        limiter.setRequestsPerSecond(1, forHostOf: host)
        #expect(limiter.reserve(key) == .granted)
        #expect(limiter.reserve(key) == .wait(until: Instant(nanoseconds: 22_100_000_000)))
    }

    @Test func `a Retry-After outlives the rate of its part`() throws {
        let limiter = limiter(nil)
        limiter.setRequestsPerSecond(5, forPathOf: search)
        try limiter.setRetryAfter(.seconds(9), for: search)
        let open = limiter.ruleKey(for: try RequestTarget(host))
        #expect(limiter.wait(for: open, position: 0) == .zero)
        try limiter.replaceRates([], defaultRequestsPerSecond: nil)
        #expect(limiter.ruleKey(for: try RequestTarget(search)) == open)
        #expect(limiter.wait(for: open, position: 0) == .seconds(9))
        // And the gate of a host closes a new part of it.
        try limiter.replaceRates(
            [.path(of: search, requestsPerSecond: 5)], defaultRequestsPerSecond: nil)
        let part = limiter.ruleKey(for: try RequestTarget(search))
        #expect(part.pathComponent == "search")
        #expect(limiter.wait(for: part, position: 0) == .seconds(9))
    }

    @Test func `a host that is closed keeps what it has counted when its rate is gone`() throws {
        let limiter = limiter(10)
        limiter.setRequestsPerSecond(5, forHostOf: host)
        let key = limiter.ruleKey(for: try RequestTarget(host))
        #expect(limiter.reserve(key) == .granted)
        // Other hosts make the limiter forget that it was busy.
        clock.advance(by: .seconds(10))
        for number in 0..<70 {
            let target = try RequestTarget(testURL("https://n\(number).test/"))
            #expect(limiter.reserve(limiter.ruleKey(for: target)) == .granted)
        }
        try limiter.setRetryAfter(.seconds(60), for: host)
        #expect(limiter.ruleStates.map(\.admitted) == [1])
        try limiter.replaceRates([], defaultRequestsPerSecond: 10)
        #expect(limiter.ruleStates.map(\.admitted) == [1])
        #expect(limiter.ruleStates.map(\.gateClosings) == [1])
    }

    @Test func `waiting loads move to the lane of their new rule and start by it`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let url = testURL("http://origin.test/search/1")
        bed.service.rateLimiter.setRequestsPerSecond(0, forPathOf: url)
        for _ in 0..<3 { bed.loader.perform(DataLoaderRequest(url: url)) }
        bed.settle()
        #expect(bed.service.runtime.admission.load.waiting == 3)
        // The part is gone: the loads belong to the host.
        try bed.service.rateLimiter.replaceRates(
            [.host(of: url, requestsPerSecond: 10)], defaultRequestsPerSecond: nil)
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        // The host is split again: what waits belongs to the new part.
        try bed.service.rateLimiter.replaceRates(
            [.path(of: url, requestsPerSecond: 1_000)], defaultRequestsPerSecond: 0)
        bed.settle()
        bed.advance(ms(1))
        bed.advance(ms(1))
        #expect(await bed.delegate.outcomes(3).count == 3)
        #expect(bed.transport.attempts.count == 3)
        bed.expectNothingLeft()
    }
}
