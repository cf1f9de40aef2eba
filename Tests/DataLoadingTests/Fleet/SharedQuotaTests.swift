// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

/// Whole services that share their rates through a store in memory.
@Suite(.timeLimit(.minutes(5))) struct SharedQuotaTests {
    private let clock = ManualClock()

    private func bed(_ member: SharedQuota.Member, rate: Double?, expected: Int = 2) -> TestBed {
        TestBed(otherwise: .respond(status: 200), clock: clock) { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate)
            configuration.rateLimiter.share(through: member, expectedMembers: expected)
            configuration.limits.perOrigin = 1_000
            configuration.limits.total = 1_000
        }
    }

    @Test func `two services start loads at one rate together`() async throws {
        let quota = SharedQuota(clock: clock)
        let beds = ["a", "b"].map { bed(quota.makeMember($0), rate: 10) }
        // The clock does not advance while loads are added.
        try await clock.autoAdvance { try await clock.sleep(for: .seconds(3)) }
        for bed in beds { for _ in 0..<20 { bed.loader.perform(.make()) } }
        await clock.autoAdvance {
            for bed in beds { _ = await bed.delegate.outcomes(20) }
        }
        let starts = beds.flatMap(\.starts).map(\.at).sorted()
        #expect(starts.count == 40)
        let gaps = zip(starts, starts.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 >= ms(99) && $0 <= ms(101) }, "\(gaps)")
        for bed in beds { await bed.service.shutDown(gracePeriod: .zero) }
    }

    @Test func `a service goes on with its share when the store is silent`() async {
        let quota = SharedQuota(clock: clock)
        let bed = bed(quota.makeMember("a"), rate: 10)
        quota.outage = .silence
        for _ in 0..<10 { bed.loader.perform(.make()) }
        await clock.autoAdvance { _ = await bed.delegate.outcomes(10) }
        let starts = bed.starts.map(\.at)
        #expect(starts.allSatisfy { $0 >= ms(250) })
        let gaps = zip(starts, starts.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 == ms(200) }, "\(gaps)")
        // The test does not advance the clock for the goodbye.
        quota.outage = nil
        await bed.service.shutDown(gracePeriod: .zero)
    }

    @Test(arguments: [LossPolicy.pause, .share(for: .seconds(1))])
    func `a service that is made after the goodbye has its share, whatever a loss would do`(
        policy: LossPolicy
    ) async {
        let quota = SharedQuota(clock: clock)
        let limiter = RateLimiter(defaultRequestsPerSecond: 10)
        limiter.share(through: quota.makeMember("a"), expectedMembers: 2, whenLost: policy)
        func bed() -> TestBed {
            TestBed(otherwise: .respond(status: 200), clock: clock) { $0.rateLimiter = limiter }
        }
        await bed().service.shutDown(gracePeriod: .zero)
        clock.advance(by: .seconds(60))
        let later = bed()
        for _ in 0..<3 { later.loader.perform(.make()) }
        await clock.autoAdvance { _ = await later.delegate.outcomes(3) }
        let starts = later.starts.map(\.at)
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 == ms(200) }, "\(starts)")
        await later.service.shutDown(gracePeriod: .zero)
    }

    @Test func `a gate is over when its time is, though the store's clock was set back`() {
        var line = QuotaLine()
        let question = QuotaLine.Question(member: "a", interval: 1e5, want: 1)
        _ = line.answer(question, at: 1e15)
        line.close(for: 10e6, at: 1e15)
        #expect(line.answer(question, at: 1e15 + 4e6).gate == 6_000_000)
        // An hour back, and a second later.
        #expect(line.answer(question, at: 1e15 + 4e6 - 3.6e9).gate == 6_000_000)
        line.close(for: 8e6, at: 1e15 + 4e6 - 7.2e9)
        #expect(line.answer(question, at: 1e15 + 5e6 - 7.2e9).gate == 7_000_000)
        #expect(line.answer(question, at: 1e15 + 13e6 - 7.2e9).gate == 0)
        #expect(line.answer(question, at: 1e15 - 1e11).gate == 0)
    }

    @Test func `a gate of one service closes the host for another without a rate`() async throws {
        let quota = SharedQuota(clock: clock)
        let beds = ["a", "b"].map { bed(quota.makeMember($0), rate: nil) }
        let url = testURL("http://origin.test/")
        try await clock.autoAdvance {
            try await clock.sleep(for: .seconds(2))
            try beds[0].service.rateLimiter.setRetryAfter(.seconds(30), for: url)
            try await clock.sleep(for: .seconds(2))
        }
        let wait = beds[1].service.rateLimiter.earliestTimeUntilRequestCanBeExecuted(.make())
        #expect(wait > .seconds(25) && wait <= .seconds(29), "\(wait)")
        #expect(beds[1].service.rateLimiter.ruleStates.map(\.gateClosings) == [1])
        for bed in beds { await bed.service.shutDown(gracePeriod: .zero) }
    }

    @Test func `a service says goodbye once, however it ends`() async throws {
        let quota = SharedQuota(clock: clock)
        let member = quota.makeMember("a")
        let bed = bed(member, rate: 10)
        await bed.service.shutDown(gracePeriod: .zero)
        await bed.service.shutDown(gracePeriod: .zero)
        bed.service.invalidateAndCancel()
        #expect(member.goodbyes == 1)
        let other = quota.makeMember("b")
        self.bed(other, rate: 10).service.invalidateAndCancel()
        await eventually { other.goodbyes == 1 }
    }

    @Test func `cancelled loads lease nothing more, and the next load has its slot`() async throws {
        let quota = SharedQuota(clock: clock)
        let bed = bed(quota.makeMember("a"), rate: 1, expected: 1)
        // The clock does not advance while loads are added and cancelled.
        func pass(_ duration: Duration) async throws {
            try await clock.autoAdvance { try await clock.sleep(for: duration) }
        }
        try await pass(.seconds(3))
        for _ in 0..<5 { bed.loader.perform(.make()) }
        try await pass(.milliseconds(10))
        bed.loader.cancelAllLoads()
        try await pass(.seconds(5))
        bed.loader.perform(.make("/last"))
        try await pass(.milliseconds(10))
        #expect(bed.starts.map(\.path) == ["/", "/last"])
        await bed.service.shutDown(gracePeriod: .zero)
    }

    @Test func `a malformed sharing ends loads with its error`() async {
        let quota = SharedQuota(clock: clock)
        let limiter = RateLimiter(defaultRequestsPerSecond: 1)
        limiter.share(through: quota.makeMember("a"), expectedMembers: 0)
        #expect(throws: DataLoaderError.self) { try limiter.validate() }
    }
}
