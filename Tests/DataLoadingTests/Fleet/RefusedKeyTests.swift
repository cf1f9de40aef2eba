// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

/// A key whose slots the store refuses while it gives those of others.
@Suite struct RefusedKeyTests {
    private let keys = [RuleKey].make(3)
    private let shared = SharedRates.ofTwo

    /// Asks about a key, unless the store is lost, and fails; returns whose loads are to ask again, also
    /// because time has passed.
    private func refuse(
        _ key: RuleKey, _ shared: inout SharedRates, at now: Instant
    ) throws -> AskAgain {
        var news = shared.wake(at: now, chance: 0)
        _ = shared.reserve(key, requestsPerSecond: 10, notBefore: nil, at: now)
        shared.prepare(key)
        let demand = SlotDemand(count: 1, latest: .distantFuture)
        guard let begun = shared.begin(key, try RateRule.tenPerSecond(), demand, at: now) else {
            return news
        }
        news += shared.failed(key, begun.number, at: now, chance: 0)
        return news
    }

    /// Asks about a key, and is answered; returns whose loads are to ask again because time has passed.
    @discardableResult private func give(
        _ key: RuleKey, _ shared: inout SharedRates, at now: Instant, lead: Duration = ms(100)
    ) throws -> AskAgain {
        let news = shared.wake(at: now, chance: 0)
        _ = shared.reserve(key, requestsPerSecond: 10, notBefore: nil, at: now)
        shared.prepare(key)
        let demand = SlotDemand(count: 1, latest: .distantFuture)
        let begun = try #require(shared.begin(key, try RateRule.tenPerSecond(), demand, at: now))
        let lease = QuotaLease(
            count: 1, firstStart: .zero, interval: ms(100), lead: lead, gate: .zero)
        _ = shared.answered(key, begun.number, lease, at: now)
        return news
    }

    @Test func `loads of a refused key wait where the policy is to pause`() throws {
        var shared = SharedRates(policy: .pause, window: ms(100), expectedMembers: 1)
        for milliseconds: Int64 in [0, 300, 600] {
            let news = try refuse(keys[0], &shared, at: .at(milliseconds))
            #expect(!news.everybody)
            try give(keys[1], &shared, at: .at(milliseconds + 1))
        }
        let answer = shared.reserve(
            keys[0], requestsPerSecond: 10, notBefore: nil, at: .at(700))
        #expect(answer == .paused)
        #expect(shared.refusedCount == 1)
    }

    @Test func `the share of a refused key begins where its line is leased to`() throws {
        var shared = shared
        try give(keys[0], &shared, at: .at(0), lead: .seconds(20))
        // The slot that was leased is used first.
        let used = shared.reserve(keys[0], requestsPerSecond: 10, notBefore: nil, at: .at(0))
        #expect(used == .granted)
        var news = try refuse(keys[0], &shared, at: .at(10))
        #expect(news == AskAgain())
        try give(keys[1], &shared, at: .at(20))
        news = try refuse(keys[0], &shared, at: .at(300))
        #expect(news == AskAgain(keys: [keys[0]]))
        let answer = shared.reserve(
            keys[0], requestsPerSecond: 10, notBefore: nil, at: .at(300))
        guard case .ownShare(let share) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(share.daemons == 2)
        #expect(share.begin >= .at(20_000))
        let start = shared.start(keys[0], position: 3, requestsPerSecond: 10, at: .at(300))
        #expect(start == answer)
        // Told once, and others as often as before.
        try give(keys[1], &shared, at: .at(350))
        news = try refuse(keys[0], &shared, at: .at(700))
        #expect(news == AskAgain())
        #expect(shared.circuit.isShared)
    }

    @Test func `a refused key whose loads come one by one keeps its share, and is asked`() throws {
        var shared = shared
        for milliseconds: Int64 in [0, 300] {
            _ = try refuse(keys[0], &shared, at: .at(milliseconds))
            try give(keys[1], &shared, at: .at(milliseconds + 1))
        }
        for milliseconds: Int64 in stride(from: 10_000, through: 90_000, by: 8_000) {
            let now = Instant.at(milliseconds)
            _ = shared.wake(at: now, chance: 1)
            let answer = shared.reserve(keys[0], requestsPerSecond: 10, notBefore: nil, at: now)
            guard case .ownShare = answer else {
                Issue.record("\(answer) after \(milliseconds) ms")
                return
            }
            // The load has started when the question is made, which then asks for no slot.
            shared.prepare(keys[0])
            let begun = try #require(
                shared.begin(keys[0], try RateRule.tenPerSecond(), SlotDemand(), at: now))
            #expect(begun.request.count == 0)
            #expect(shared.failed(keys[0], begun.number, at: now, chance: 1) == AskAgain())
            #expect(shared.refusedCount == 1)
        }
        _ = shared.wake(at: .at(200_000), chance: 1)
        try give(keys[0], &shared, at: .at(200_000))
        #expect(shared.refusedCount == 0)
    }

    @Test func `a refused key has its share after the store was lost and has come back`() throws {
        var shared = shared
        for milliseconds: Int64 in [0, 300] {
            _ = try refuse(keys[0], &shared, at: .at(milliseconds))
            try give(keys[1], &shared, at: .at(milliseconds + 1))
        }
        shared.lose(at: .at(1_000))
        let isReturn = shared.storeHeard(at: .at(2_000))
        #expect(isReturn)
        _ = shared.wake(at: .at(2_000), chance: 0)
        let answer = shared.reserve(
            keys[0], requestsPerSecond: 10, notBefore: nil, at: .at(2_000))
        guard case .ownShare = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test func `a store that answers nothing any more is lost, whatever it refused before`() throws
    {
        var shared = shared
        for milliseconds: Int64 in [0, 300] {
            _ = try refuse(keys[0], &shared, at: .at(milliseconds))
            try give(keys[1], &shared, at: .at(milliseconds + 1))
        }
        _ = shared.wake(at: .at(1_000), chance: 0)
        for milliseconds: Int64 in [1_000, 1_300] {
            let news = try refuse(keys[2], &shared, at: .at(milliseconds))
            #expect(news.everybody == (milliseconds == 1_300))
        }
        #expect(!shared.circuit.isShared)
    }

    @Test func `a provider that is silent about one key loses that key alone`() throws {
        var shared = shared
        _ = shared.reserve(keys[0], requestsPerSecond: 10, notBefore: nil, at: .at(0))
        shared.prepare(keys[0])
        let demand = SlotDemand(count: 1, latest: .distantFuture)
        let begun = try #require(
            shared.begin(keys[0], try RateRule.tenPerSecond(), demand, at: .at(0)))
        var news = AskAgain()
        for milliseconds: Int64 in stride(from: 50, through: 300, by: 50) {
            let other = milliseconds % 100 == 0 ? keys[1] : keys[2]
            let more = try give(other, &shared, at: .at(milliseconds))
            _ = shared.reserve(other, requestsPerSecond: 10, notBefore: nil, at: .at(milliseconds))
            news.everybody = news.everybody || more.everybody
            news.keys += more.keys
        }
        #expect(news == AskAgain(keys: [keys[0]]))
        // It has its share for as long as the provider does not return, and after it.
        for milliseconds: Int64 in [300, 31_000, 62_000] {
            let now = Instant.at(milliseconds)
            if milliseconds == 62_000 {
                #expect(shared.failed(keys[0], begun.number, at: now, chance: 1) == AskAgain())
                _ = shared.takeOrders()
            }
            let answer = shared.reserve(keys[0], requestsPerSecond: 10, notBefore: nil, at: now)
            guard case .ownShare = answer else {
                Issue.record("\(answer) after \(milliseconds) ms")
                return
            }
        }
        // It rests after a late failure too.
        #expect(!shared.hasOrders)
    }
}
