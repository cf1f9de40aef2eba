// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The rate that a host sees is the configured rate.
@Suite struct RateTests {
    private static func bed(
        rate: Double?, burst: Int = 1, otherwise: ScriptedAnswer = .respond(status: 200)
    ) -> TestBed {
        TestBed(otherwise: otherwise) { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate, burst: burst)
            configuration.limits.perOrigin = 100_000
            configuration.limits.total = 100_000
        }
    }

    @Test func `a thousand loads start exactly ten milliseconds apart`() async {
        let bed = Self.bed(rate: 100)
        for _ in 0..<1_000 { bed.loader.perform(.make()) }
        #expect(bed.clock.pendingAlarms == 1)
        bed.clock.advance(by: .seconds(10))
        #expect(bed.starts.map(\.at) == (0..<1_000).map { ms(10 * $0) })
        #expect(await bed.delegate.outcomes(1_000).count == 1_000)
        bed.expectNothingLeft()
    }

    @Test func `two loaders with five hundred loads each take turns`() {
        let bed = Self.bed(rate: 100)
        let other = bed.factory.makeDataLoader(delegate: bed.delegate)
        for _ in 0..<500 { bed.loader.perform(.make("/one")) }
        for _ in 0..<500 { other.perform(.make("/two")) }
        bed.clock.advance(by: .seconds(10))
        // The first load entered an empty queue.
        let order = bed.starts.map(\.path).dropFirst()
        #expect(
            order.prefix(998).enumerated().allSatisfy { index, path in
                path == (index % 2 == 0 ? order.first : "/one" == order.first ? "/two" : "/one")
            })
        #expect(bed.starts.count == 1_000)
    }

    @Test func `a burst of loads starts at once, and the rest start at the rate`() {
        let bed = Self.bed(rate: 10, burst: 5)
        for _ in 0..<8 { bed.loader.perform(.make()) }
        bed.clock.advance(by: .seconds(1))
        #expect(bed.starts.map(\.at) == [0, 0, 0, 0, 0, 100, 200, 300].map { ms($0) })
    }

    @Test func `a path with a rule of its own is limited separately from its origin`() {
        let bed = Self.bed(rate: nil)
        bed.service.rateLimiter.setRequestsPerSecond(
            1, forPathOf: testURL("http://origin.test/search?q"))
        for _ in 0..<2 {
            bed.loader.perform(.make("/search/x"))
            bed.loader.perform(.make("/other"))
        }
        bed.clock.advance(by: .seconds(2))
        #expect(bed.starts.map(\.path) == ["/search/x", "/other", "/other", "/search/x"])
    }

    @Test func `a rate of zero holds every load back until another rate is set`() {
        let bed = Self.bed(rate: 0)
        for _ in 0..<3 { bed.loader.perform(.make()) }
        bed.clock.advance(by: .seconds(30))
        #expect(bed.starts.isEmpty)
        bed.service.rateLimiter.setRequestsPerSecond(2, forHostOf: testURL("http://origin.test"))
        bed.clock.advance(by: .seconds(2))
        #expect(bed.starts.map(\.at) == [30_000, 30_500, 31_000].map { ms($0) })
    }

    @Test func `a rate that changes while loads wait takes effect at once`() {
        let bed = Self.bed(rate: 1)
        for _ in 0..<6 { bed.loader.perform(.make()) }
        bed.clock.advance(by: .milliseconds(100))
        bed.service.rateLimiter.setRequestsPerSecond(10, forHostOf: testURL("http://origin.test"))
        bed.clock.advance(by: .seconds(1))
        // The next load waits a tenth of a second from the change, not from its old slot.
        #expect(bed.starts.map(\.at) == [0, 200, 300, 400, 500, 600].map { ms($0) })
        bed.service.rateLimiter.setRequestsPerSecond(0, forHostOf: testURL("http://origin.test"))
        bed.loader.perform(.make())
        bed.clock.advance(by: .seconds(5))
        #expect(bed.starts.count == 6)
        bed.service.rateLimiter.setRequestsPerSecond(nil, forHostOf: testURL("http://origin.test"))
        #expect(bed.starts.count == 7)
    }

    @Test func `waiting loads move to a rule that is set for their path`() {
        let bed = Self.bed(rate: 0)
        bed.loader.perform(.make("/search/a"))
        bed.loader.perform(.make("/other"))
        bed.clock.advance(by: .seconds(10))
        bed.service.rateLimiter.setRequestsPerSecond(
            5, forPathOf: testURL("http://origin.test/search"))
        #expect(bed.starts.map(\.path) == ["/search/a"])
        bed.service.rateLimiter.setRequestsPerSecond(nil, forHostOf: testURL("http://origin.test"))
        #expect(bed.starts.map(\.path) == ["/search/a", "/other"])
        let waits = bed.transport.attempts.count
        #expect(waits == 2)
    }

    @Test func `the time before a load moved to another rule counts as waiting`() async {
        let bed = Self.bed(rate: 0)
        bed.loader.perform(.make("/search/a"))
        bed.clock.advance(by: .seconds(10))
        bed.service.rateLimiter.setRequestsPerSecond(
            5, forPathOf: testURL("http://origin.test/search"))
        let response = await bed.outcome()?.response
        #expect(response?.metrics.admissionTime == .seconds(10))
    }

    // Cancelled while waiting for a slot of the rate.
    @Test func `a load that is cancelled while it waits takes no slot`() {
        let bed = Self.bed(rate: 1)
        let tokens = (0..<10).map { _ in bed.loader.perform(.make()) }
        for token in tokens[1..<9] { token.cancel() }
        bed.clock.advance(by: .seconds(1))
        #expect(bed.starts.map(\.at) == [ms(0), ms(1_000)])
        bed.settle()
        #expect(bed.delegate.events.count { if case .cancelled = $0 { true } else { false } } == 8)
    }

    @Test
    func `no load starts for two seconds after one Retry-After, whatever succeeds in between`() {
        let bed = Self.bed(rate: nil, otherwise: .hold)
        for _ in 0..<2 { bed.loader.perform(.make()) }
        let attempts = bed.transport.attempts
        attempts[0].respond(status: 503, headers: ["Retry-After": "2"])
        attempts[1].respond(status: 200)
        bed.loader.perform(.make())
        bed.loader.perform(.make("/x", host: "http://other.test"))
        bed.clock.advance(by: .milliseconds(1_999))
        #expect(bed.starts.map(\.host) == ["origin.test", "origin.test", "other.test"])
        bed.clock.advance(by: .milliseconds(1))
        #expect(bed.starts.map(\.at).last == .seconds(2))
        #expect(bed.starts.count == 4)
    }

    @Test func `a load that finds the queue full is refused at once`() {
        let bed = TestBed { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 0)
            configuration.limits.queue = 10
        }
        for _ in 0..<12 { bed.loader.perform(.make()) }
        bed.settle()
        #expect(bed.delegate.events.map { $0.response?.error } == [.overloaded, .overloaded])
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `urgent loads start first, and other priorities get one start in sixteen`() {
        let bed = Self.bed(rate: 10)
        for priority in Priority.allCases {
            for index in 0..<20 {
                bed.loader.perform(.make("/\(priority)-\(index)") { $0.priority = priority })
            }
        }
        bed.clock.advance(by: ms(3_100))
        let classes = bed.starts.map { $0.path.prefix { $0 != "-" } }
        #expect(classes.first == "/low")
        #expect(classes.dropFirst().prefix(14).allSatisfy { $0 == "/high" })
        #expect(Set(classes.dropFirst().prefix(16)).count == 3)
    }

    @Test func `loads that waited for a gate start at the rate and not all at once`() {
        let bed = Self.bed(rate: 10, burst: 10)
        try? bed.service.rateLimiter.setRetryAfter(.seconds(3), for: testURL("http://origin.test"))
        for _ in 0..<50 { bed.loader.perform(.make()) }
        bed.clock.advance(by: .seconds(10))
        #expect(bed.starts.map(\.at) == (0..<50).map { .seconds(3) + ms(100 * $0) })
    }

    @Test func `loads that a busy server turns away come back at ten a second without a rate`() {
        let bed = Self.bed(rate: nil, otherwise: .hold)
        for _ in 0..<30 { bed.loader.perform(.make { $0.maximumRetryCount = 1 }) }
        bed.settle()
        #expect(bed.starts.map(\.at) == Array(repeating: .zero, count: 30))
        for attempt in bed.transport.attempts {
            attempt.respond(status: 503, headers: ["Retry-After": "2"])
        }
        bed.settle()
        bed.advance(.seconds(30))
        // Each load pauses for two to three seconds, so without a limit all would return at once.
        let again = bed.starts.dropFirst(30).map(\.at)
        #expect(again.count == 30)
        #expect(again.allSatisfy { $0 >= .seconds(2) })
        for (earlier, later) in zip(again, again.dropFirst()) where later < .seconds(3) {
            #expect(later - earlier >= ms(100))
        }
        #expect(again.last ?? .zero >= ms(3_900))
    }

    @Test func `the rate limiter forgets the keys of idle servers`() {
        let bed = Self.bed(rate: 100)
        for index in 0..<1_000 {
            bed.loader.perform(.make("/", host: "http://host\(index).test"))
            bed.clock.advance(by: .seconds(1))
        }
        #expect(bed.service.rateLimiter.busyKeys < 200)
        bed.expectNothingLeft()
    }

    @Test
    func `a hundred thousand waiting loads need one alarm, and cancelling costs the same each`() {
        // A sanitizer multiplies the cost of each load and does not measure time.
        let many = patience > 1 ? 20_000 : 100_000
        let few = Self.timeToCancel(many / 10)
        #expect(few > .zero)
        // Ten times as many loads cost about ten times as much, not a hundred times.
        #expect(Self.timeToCancel(many) < few * 30)
    }

    /// The processor time for cancelling this many waiting loads in random order.
    private static func timeToCancel(_ count: Int) -> Duration {
        let bed = TestBed { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 0)
            configuration.limits.queue = count
        }
        var generator = SeededGenerator(seed: 7)
        let request = DataLoaderRequest.make()
        var tokens = (0..<count).map { _ in bed.loader.perform(request) }
        #expect(bed.clock.pendingAlarms == 1)
        #expect(bed.service.runtime.admission.load.waiting == count)
        tokens.shuffle(using: &generator)
        let took = processorTime { for token in tokens { token.cancel() } }
        bed.expectNothingLeft()
        #expect(bed.delegate.events.count == count)
        #expect(bed.transport.attempts.isEmpty)
        return took
    }
}
