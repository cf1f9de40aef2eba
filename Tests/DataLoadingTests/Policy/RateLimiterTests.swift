// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

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

    // SP-12
    @Test func `the most specific rule wins, then the origin's, then the default`() throws {
        let limiter = limiter(10)
        limiter.setRequestsPerSecond(5, for: try url("https://a.test"))
        limiter.setRequestsPerSecond(2, for: try url("https://a.test/search/x?q=1"))
        for (text, expected) in [
            ("https://a.test/search", 2), ("https://a.test/search?q", 2), ("https://a.test/", 5),
            ("https://a.test/searching", 5), ("https://b.test/search", 10),
            ("http://a.test/search", 10), ("https://a.test:8443/search", 10),
        ] as [(String, Double)] {
            #expect(limiter.requestsPerSecond(for: try url(text)) == expected, "\(text)")
        }
    }

    // SP-11
    @Test func `spellings of one origin are one key, paths below one component too`() throws {
        let limiter = limiter(1)
        #expect(try key(limiter, "https://A.test") == key(limiter, "HTTPS://a.TEST:443/x?y#z"))
        #expect(try key(limiter, "http://[::AB]:80/") == key(limiter, "http://[::ab]"))
        #expect(try key(limiter, "http://a.test") != key(limiter, "https://a.test"))
        limiter.setRequestsPerSecond(3, for: try url("https://a.test/v1/users"))
        #expect(try key(limiter, "https://a.test/v1/posts?q=1").pathComponent == "v1")
        #expect(try key(limiter, "https://a.test/v2").pathComponent == nil)
        #expect(try key(limiter, "https://b.test/v1").pathComponent == nil)
    }

    @Test func `requests of a key keep their distance, those of others do not matter`() throws {
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

    @Test func `looking takes no slot`() throws {
        let limiter = limiter(10)
        for _ in 0..<3 { #expect(try wait(limiter, "https://a.test/x") == .zero) }
        #expect(limiter.reserve(try key(limiter, "https://a.test")) == .granted)
        for _ in 0..<3 { #expect(try wait(limiter, "https://a.test/x") == ms(100)) }
        #expect(limiter.wait(for: try key(limiter, "https://a.test"), position: 4) == ms(500))
    }

    // SP-12: rate 0 divided by zero in the predecessor.
    @Test func `zero pauses until another rate is set, nil lets everything through`() throws {
        let limiter = limiter(10)
        let url = try url("https://a.test")
        let key = try key(limiter, "https://a.test")
        limiter.setRequestsPerSecond(0, for: url)
        #expect(limiter.reserve(key) == .paused)
        #expect(limiter.wait(for: key, position: 0) == nil)
        #expect(try wait(limiter, "https://a.test") == .nanoseconds(Int64.max))
        limiter.setRequestsPerSecond(nil, for: url)
        for _ in 0..<100 { #expect(limiter.reserve(key) == .granted) }
        #expect(limiter.requestsPerSecond(for: url) == nil)
    }

    @Test(arguments: [-1, -0.001, Double.infinity, -.infinity, .nan])
    func `a rate that is none leaves the one that holds`(perSecond: Double) throws {
        let limiter = limiter(10)
        let url = try url("https://a.test")
        limiter.setRequestsPerSecond(perSecond, for: url)
        #expect(limiter.requestsPerSecond(for: url) == 10)
        limiter.setRequestsPerSecond(4, for: url)
        limiter.setRequestsPerSecond(perSecond, for: url)
        #expect(limiter.requestsPerSecond(for: url) == 4)
        #expect(throws: DataLoaderError.malformedRate) { try limiter.validate() }
        limiter.setRequestsPerSecond(4, for: url)
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
        limiter.setRequestsPerSecond(0, for: try url(text))
        #expect(throws: DataLoaderError.malformedRatedURL) { try limiter.validate() }
        limiter.setRetryAfter(.seconds(10), for: try url(text))
        #expect(limiter.requestsPerSecond(for: try url(text)) == nil)
        #expect(try wait(limiter, text) == .zero)
        #expect(limiter.busyKeys == 0)
    }

    @Test func `a new rate holds for those who wait already`() throws {
        let limiter = limiter(0.001)
        let key = try key(limiter, "https://a.test")
        #expect(limiter.reserve(key) == .granted)
        #expect(try wait(limiter, "https://a.test") == .seconds(1_000))
        limiter.setRequestsPerSecond(10, for: try url("https://a.test"))
        #expect(try wait(limiter, "https://a.test") == ms(100))
    }

    // SP-03
    @Test func `Retry-After holds a key back, whatever its rate, for an hour at most`() throws {
        let limiter = limiter(nil)
        limiter.setRetryAfter(.seconds(30), for: try url("https://a.test/x"))
        #expect(try wait(limiter, "https://a.test/y") == .seconds(30))
        #expect(try wait(limiter, "https://b.test/y") == .zero)
        limiter.setRetryAfter(.seconds(5), for: try url("https://a.test"))
        limiter.setRetryAfter(.zero, for: try url("https://a.test"))
        limiter.setRetryAfter(.seconds(-5), for: try url("https://a.test"))
        #expect(try wait(limiter, "https://a.test/y") == .seconds(30))
        limiter.setRetryAfter(.seconds(Int64.max), for: try url("https://a.test"))
        #expect(try wait(limiter, "https://a.test/y") == .seconds(3_600))
    }

    @Test func `a rule for a path does not open the gate of its origin`() throws {
        let limiter = limiter(nil)
        limiter.setRetryAfter(.seconds(30), for: try url("https://a.test/x"))
        limiter.setRequestsPerSecond(1, for: try url("https://a.test/x"))
        #expect(try wait(limiter, "https://a.test/x") == .seconds(30))
    }

    @Test func `the wall clock changes nothing`() throws {
        let limiter = limiter(1)
        let key = try key(limiter, "https://a.test")
        limiter.setRetryAfter(.seconds(10), for: key)
        for years in [10.0, -10, 0] {
            clock.setDate(clock.date.addingTimeInterval(years * 31_557_600))
            #expect(limiter.wait(for: key, position: 0) == .seconds(10))
        }
    }

    @Test func `when a gate opens, those who waited leave at the rate`() throws {
        let limiter = limiter(10, burst: 8)
        let key = try key(limiter, "https://a.test")
        limiter.setRetryAfter(.seconds(2), for: key)
        #expect(departures(limiter, key, count: 4) == [2_000, 2_100, 2_200, 2_300])
    }

    @Test func `without a rate they leave at ten a second, doubled each second, for 10 s`() throws {
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
        clock.advance(by: .milliseconds(10_999) - clock.now)
        #expect(limiter.reserve(key) == .granted)
        #expect(limiter.reserve(key) != .granted)
        clock.advance(by: ms(1))
        for _ in 0..<100 { #expect(limiter.reserve(key) == .granted) }
    }

    /// Takes slots as they come; answers when, in milliseconds.
    private func departures(_ limiter: RateLimiter, _ key: RuleKey, count: Int) -> [Int64] {
        var departures: [Int64] = []
        while departures.count < count {
            switch limiter.reserve(key) {
            case .granted: departures.append(clock.now.wholeNanoseconds / 1_000_000)
            case .wait(let instant): clock.advance(by: instant - clock.instant)
            case .paused: return departures
            }
        }
        return departures
    }

    @Test func `a thousand who ask at once get exactly the burst, then the rate`() throws {
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

    @Test func `idle keys take no memory`() throws {
        let limiter = limiter(1)
        for index in 0..<10_000 {
            let key = try key(limiter, "https://host\(index).test")
            #expect(limiter.reserve(key) == .granted)
            clock.advance(by: ms(100))
        }
        #expect(limiter.busyKeys <= 128)
        #expect(limiter.reserve(try key(limiter, "https://host9999.test")) != .granted)
    }

    @Test func `an unlimited limiter keeps nothing`() throws {
        let limiter = limiter(nil)
        for index in 0..<100 { _ = limiter.reserve(try key(limiter, "https://h\(index).test")) }
        #expect(limiter.busyKeys == 0)
    }

    @Test func `tells its subscribers about every change, and no one who has left`() throws {
        let limiter = limiter(10)
        let heard = Locked<[RateChange]>([])
        var subscription: RateLimiter.Subscription? = limiter.subscribe { change in
            _ = limiter.requestsPerSecond(for: URL(fileURLWithPath: "/"))  // no lock is held
            heard.withLock { $0.append(change) }
        }
        let origin = try key(limiter, "https://a.test")
        limiter.setRequestsPerSecond(0, for: try url("https://a.test"))
        limiter.setRequestsPerSecond(.nan, for: try url("https://a.test"))
        limiter.setRetryAfter(.seconds(9), for: try url("https://a.test/x"))
        limiter.setRetryAfter(.seconds(3), for: try url("https://a.test/x"))
        limiter.setRequestsPerSecond(1, for: try url("https://a.test/x"))
        limiter.setRequestsPerSecond(2, for: try url("https://a.test/x"))
        let path = try key(limiter, "https://a.test/x")
        clock.advance(by: .seconds(20))
        limiter.setRetryAfter(.seconds(-1), for: try url("https://a.test"))
        let changes = [
            RateChange.key(origin), .key(origin), .part(of: origin.origin), .key(path),
        ]
        #expect(heard.withLock { $0 } == changes)
        withExtendedLifetime(subscription) {}
        subscription = nil
        limiter.setRequestsPerSecond(5, for: try url("https://a.test"))
        #expect(heard.withLock { $0.count } == 4)
    }

    @Test func `a service's clock takes over what was set before`() throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: nil)
        limiter.setRetryAfter(.seconds(60), for: try url("https://a.test"))
        clock.advance(by: .seconds(5_000))
        limiter.adopt(clock.timekeeper)
        let wait = try wait(limiter, "https://a.test")
        #expect(wait > .seconds(50) && wait <= .seconds(60))
    }

    // P5: a gate only ever moves later, and nothing leaves before it.
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
                    gate = max(gate, clock.now + .seconds(min(delay, 3_600)))
                case 1:
                    clock.advance(by: .seconds(Int64.random(in: 0...3_000, using: &generator)))
                default:
                    let isOpen = limiter.reserve(key) == .granted
                    if isOpen, clock.now < gate { return "left \(gate - clock.now) too early" }
                }
                guard let wait = limiter.wait(for: key, position: 0) else { return "paused" }
                if clock.now < gate, wait != gate - clock.now {
                    return "waits \(wait), the gate opens in \(gate - clock.now)"
                }
                if wait > max(.zero, gate - clock.now) + ms(100) { return "waits \(wait)" }
            }
            return nil
        }
    }
}
