// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

@Suite struct RateLimiterTests {
    private let clock = ManualClock()

    private func limiter(_ perSecond: Double?, burst: Int = 1) -> RateLimiter {
        let limiter = RateLimiter(defaultRequestsPerSecond: perSecond, burst: burst)
        limiter.adopt(clock.timekeeper)
        return limiter
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func key(_ limiter: RateLimiter, _ text: String) throws -> RuleKey {
        limiter.ruleKey(for: try RequestTarget(text: text))
    }

    private func wait(_ limiter: RateLimiter, _ text: String) throws -> Duration {
        limiter.earliestTimeUntilRequestCanBeExecuted(DataLoaderRequest(url: try url(text)))
    }

    @Test func `spellings of one origin share a rate key, and so do paths below one component`()
        throws
    {
        let limiter = limiter(1)
        #expect(try key(limiter, "https://A.test") == key(limiter, "HTTPS://a.TEST:443/x?y#z"))
        #expect(try key(limiter, "http://[::AB]:80/") == key(limiter, "http://[::ab]"))
        #expect(try key(limiter, "http://a.test") != key(limiter, "https://a.test"))
        limiter.setRequestsPerSecond(3, forPathOf: try url("https://a.test/v1/users"))
        #expect(try key(limiter, "https://a.test/v1/posts?q=1").pathComponent == "v1")
        #expect(try key(limiter, "https://a.test/v2").pathComponent == nil)
        #expect(try key(limiter, "https://b.test/v1").pathComponent == nil)
    }

    @Test func `requests of one rate key keep their distance, and other keys do not matter`() throws
    {
        let limiter = limiter(10)
        let (first, second) = (
            try key(limiter, "https://a.test"), try key(limiter, "https://b.test")
        )
        #expect(limiter.reserve(first) == .granted)
        #expect(limiter.reserve(first) == .wait(until: Instant(nanoseconds: 100_000_000)))
        #expect(limiter.reserve(second) == .granted)
        clock.advance(by: ms(99))
        #expect(limiter.reserve(first) == .wait(until: Instant(nanoseconds: 100_000_000)))
        clock.advance(by: ms(1))
        #expect(limiter.reserve(first) == .granted)
    }

    @Test func `asking for the waiting time takes no slot`() throws {
        let limiter = limiter(10)
        for _ in 0..<3 { #expect(try wait(limiter, "https://a.test/x") == .zero) }
        #expect(limiter.reserve(try key(limiter, "https://a.test")) == .granted)
        for _ in 0..<3 { #expect(try wait(limiter, "https://a.test/x") == ms(100)) }
        #expect(limiter.wait(for: try key(limiter, "https://a.test"), position: 4) == ms(500))
    }

    // SPTDataLoader divided by zero at a rate of 0.
    @Test func `a rate of zero pauses until another rate is set, and nil is unlimited`() throws {
        let limiter = limiter(10)
        let url = try url("https://a.test")
        let key = try key(limiter, "https://a.test")
        limiter.setRequestsPerSecond(0, forHostOf: url)
        #expect(limiter.reserve(key) == .paused)
        #expect(limiter.wait(for: key, position: 0) == nil)
        #expect(try wait(limiter, "https://a.test") == .nanoseconds(Int64.max))
        limiter.setRequestsPerSecond(nil, forHostOf: url)
        for _ in 0..<100 { #expect(limiter.reserve(key) == .granted) }
        #expect(limiter.requestsPerSecond(for: url) == nil)
    }

    @Test(arguments: [-1, -0.001, Double.infinity, -.infinity, .nan])
    func `a malformed rate keeps the previous rate and is reported`(perSecond: Double) throws {
        let limiter = limiter(10)
        let url = try url("https://a.test")
        limiter.setRequestsPerSecond(perSecond, forHostOf: url)
        #expect(limiter.requestsPerSecond(for: url) == 10)
        limiter.setRequestsPerSecond(4, forHostOf: url)
        limiter.setRequestsPerSecond(perSecond, forHostOf: url)
        #expect(limiter.requestsPerSecond(for: url) == 4)
        #expect(throws: DataLoaderError.malformedRate) { try limiter.validate() }
        limiter.setRequestsPerSecond(4, forHostOf: url)
        try limiter.validate()
        let other = self.limiter(perSecond)
        #expect(other.requestsPerSecond(for: url) == nil)
        #expect(throws: DataLoaderError.malformedRate) { try other.validate() }
    }

    @Test(arguments: [
        "data:image/png;base64,AA", "ftp://a.test", "/relative", "https://u:p@a.test",
    ])
    func `a URL that cannot be loaded has no rate`(text: String) throws {
        let limiter = limiter(10)
        limiter.setRequestsPerSecond(0, forHostOf: try url(text))
        #expect(throws: DataLoaderError.malformedRatedURL) { try limiter.validate() }
        #expect(throws: DataLoaderError.malformedGatedURL) {
            try limiter.setRetryAfter(.seconds(10), for: try url(text))
        }
        #expect(limiter.requestsPerSecond(for: try url(text)) == nil)
        #expect(try wait(limiter, text) == .zero)
        #expect(limiter.busyKeys == 0)
    }

    @Test func `a new rate applies to requests that already wait`() throws {
        let limiter = limiter(0.001)
        let key = try key(limiter, "https://a.test")
        #expect(limiter.reserve(key) == .granted)
        #expect(try wait(limiter, "https://a.test") == .seconds(1_000))
        limiter.setRequestsPerSecond(10, forHostOf: try url("https://a.test"))
        #expect(try wait(limiter, "https://a.test") == ms(100))
    }

    @Test func `Retry-After closes a key for an hour at most, whatever its rate`() throws {
        let limiter = limiter(nil)
        try limiter.setRetryAfter(.seconds(30), for: url("https://a.test/x"))
        #expect(try wait(limiter, "https://a.test/y") == .seconds(30))
        #expect(try wait(limiter, "https://b.test/y") == .zero)
        let key = try key(limiter, "https://a.test")
        for delay in [Duration.seconds(5), .zero, .seconds(-5)] {
            limiter.setRetryAfter(delay, for: key)
        }
        for delay in [Duration.zero, .seconds(-5), .seconds(3_601), .seconds(Int64.max)] {
            #expect(throws: DataLoaderError.malformedGate) {
                try limiter.setRetryAfter(delay, for: try url("https://a.test"))
            }
        }
        #expect(try wait(limiter, "https://a.test/y") == .seconds(30))
        limiter.setRetryAfter(.seconds(Int64.max), for: key)
        #expect(try wait(limiter, "https://a.test/y") == .seconds(3_600))
    }

    @Test func `a rule for a path does not open the gate of its origin`() throws {
        let limiter = limiter(nil)
        try limiter.setRetryAfter(.seconds(30), for: url("https://a.test/x"))
        limiter.setRequestsPerSecond(1, forPathOf: try url("https://a.test/x"))
        #expect(try wait(limiter, "https://a.test/x") == .seconds(30))
    }

    @Test func `a jump of the wall clock does not change the waiting time`() throws {
        let limiter = limiter(1)
        let key = try key(limiter, "https://a.test")
        limiter.setRetryAfter(.seconds(10), for: key)
        for years in [10.0, -10, 0] {
            clock.setDate(clock.date.addingTimeInterval(years * 31_557_600))
            #expect(limiter.wait(for: key, position: 0) == .seconds(10))
        }
    }

    @Test func `waiting requests leave at the rate when a gate opens`() throws {
        let limiter = limiter(10, burst: 8)
        let key = try key(limiter, "https://a.test")
        limiter.setRetryAfter(.seconds(2), for: key)
        #expect(departures(limiter, key, count: 4) == [2_000, 2_100, 2_200, 2_300])
    }

    @Test func `requests without a rate leave a gate at ten a second, doubling for ten seconds`()
        throws
    {
        let limiter = limiter(nil)
        let key = try key(limiter, "https://a.test")
        limiter.setRetryAfter(.seconds(1), for: key)
        let promised = try #require(limiter.wait(for: key, position: 29))
        let departures = departures(limiter, key, count: 31)
        #expect(departures.prefix(3) == [1_000, 1_100, 1_200])
        #expect(departures[10...12] == [2_000, 2_050, 2_100])
        #expect(departures.count { $0 < 2_000 } == 10)
        #expect(departures.count { $0 < 3_000 } == 30)
        #expect(abs((promised - ms(departures[29])).wholeNanoseconds) < 1_000)
        clock.advance(by: .milliseconds(10_999) - clock.elapsed)
        #expect(limiter.reserve(key) == .granted)
        #expect(limiter.reserve(key) != .granted)
        clock.advance(by: ms(1))
        for _ in 0..<100 { #expect(limiter.reserve(key) == .granted) }
    }

    /// Reserves slots and returns their times in milliseconds.
    private func departures(_ limiter: RateLimiter, _ key: RuleKey, count: Int) -> [Int64] {
        var departures: [Int64] = []
        while departures.count < count {
            switch limiter.reserve(key) {
            case .granted: departures.append(clock.elapsed.wholeNanoseconds / 1_000_000)
            case .wait(let instant): clock.advance(by: instant - clock.instant)
            case .paused: return departures
            }
        }
        return departures
    }

    @Test func `a thousand concurrent requests get exactly the burst and then the rate`() throws {
        let limiter = limiter(10, burst: 10)
        let key = try key(limiter, "https://a.test")
        for _ in 0..<5 {
            let granted = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 1_000) { _ in
                if limiter.reserve(key) == .granted { granted.withLock { $0 += 1 } }
            }
            #expect(granted.withLock { $0 } == 10)
            clock.advance(by: .seconds(1))
        }
    }

    @Test func `idle rate keys take no memory`() throws {
        let limiter = limiter(1)
        for index in 0..<10_000 {
            let key = try key(limiter, "https://host\(index).test")
            #expect(limiter.reserve(key) == .granted)
            clock.advance(by: ms(100))
        }
        #expect(limiter.busyKeys <= 128)
        #expect(limiter.reserve(try key(limiter, "https://host9999.test")) != .granted)
    }

    @Test func `an unlimited rate limiter stores no keys`() throws {
        let limiter = limiter(nil)
        for index in 0..<100 { _ = limiter.reserve(try key(limiter, "https://h\(index).test")) }
        #expect(limiter.busyKeys == 0)
    }

    @Test func `the rate limiter tells its subscribers every change until they leave`() throws {
        let limiter = limiter(10)
        let heard = Locked<[RateChange]>([])
        var subscription: RateLimiter.Subscription? = limiter.subscribe { change in
            _ = limiter.requestsPerSecond(for: URL(fileURLWithPath: "/"))  // no lock is held
            heard.withLock { $0.append(change) }
        }
        let origin = try key(limiter, "https://a.test")
        limiter.setRequestsPerSecond(0, forHostOf: try url("https://a.test"))
        limiter.setRequestsPerSecond(.nan, forHostOf: try url("https://a.test"))
        try limiter.setRetryAfter(.seconds(9), for: url("https://a.test/x"))
        try limiter.setRetryAfter(.seconds(3), for: url("https://a.test/x"))
        limiter.setRequestsPerSecond(1, forPathOf: try url("https://a.test/x"))
        limiter.setRequestsPerSecond(2, forPathOf: try url("https://a.test/x"))
        let path = try key(limiter, "https://a.test/x")
        clock.advance(by: .seconds(20))
        limiter.setRetryAfter(.seconds(-1), for: origin)
        let changes = [
            RateChange.key(origin), .key(origin), .part(of: origin.origin), .key(path),
        ]
        #expect(heard.withLock { $0 } == changes)
        withExtendedLifetime(subscription) {}
        subscription = nil
        limiter.setRequestsPerSecond(5, forHostOf: try url("https://a.test"))
        #expect(heard.withLock { $0.count } == 4)
    }

    @Test func `the rate limiter keeps its gates when a service's clock replaces its own`() throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: nil)
        try limiter.setRetryAfter(.seconds(60), for: url("https://a.test"))
        clock.advance(by: .seconds(5_000))
        limiter.adopt(clock.timekeeper)
        let wait = try wait(limiter, "https://a.test")
        #expect(wait > .seconds(50) && wait <= .seconds(60))
    }

    // A gate only moves later, and no slot starts before it opens.
    @Test func `only time opens a gate`() throws {
        let target = try RequestTarget(text: "https://a.test")
        property { generator in
            let clock = ManualClock()
            let perSecond = Bool.random(using: &generator) ? nil : 100.0
            let limiter = RateLimiter(defaultRequestsPerSecond: perSecond)
            limiter.adopt(clock.timekeeper)
            let key = limiter.ruleKey(for: target)
            var gate = Duration.zero
            for _ in 0..<12 {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    let delay = Int64.random(in: -10...5_000, using: &generator)
                    limiter.setRetryAfter(.seconds(delay), for: key)
                    gate = max(gate, clock.elapsed + .seconds(min(delay, 3_600)))
                case 1:
                    clock.advance(by: .seconds(Int64.random(in: 0...3_000, using: &generator)))
                default:
                    let isOpen = limiter.reserve(key) == .granted
                    if isOpen, clock.elapsed < gate {
                        return "left \(gate - clock.elapsed) too early"
                    }
                }
                guard let wait = limiter.wait(for: key, position: 0) else { return "paused" }
                if clock.elapsed < gate, wait != gate - clock.elapsed {
                    return "waits \(wait), the gate opens in \(gate - clock.elapsed)"
                }
                if wait > max(.zero, gate - clock.elapsed) + ms(100) { return "waits \(wait)" }
            }
            return nil
        }
    }
}
