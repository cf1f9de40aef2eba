// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

/// Stores that are there, and give no slots.
@Suite struct RefusedSlotsTests {
    /// A store that answers heartbeats and refuses everything else, as one with a right too few.
    private final class Refusing: QuotaProvider {
        struct Refusal: Error {}

        let leases = Locked(0)

        func lease(_ request: QuotaRequest) async throws -> QuotaLease {
            leases.add(1)
            throw Refusal()
        }

        func close(_ key: QuotaKey, for delay: Duration) async throws { throw Refusal() }

        func heartbeat() async throws -> FleetView { FleetView(present: 2, known: 2) }

        func shutDown() async {}
    }

    private let keys = [RuleKey].make(2)
    private let shared = SharedRates.ofTwo

    @Test(.timeLimit(.minutes(5)))
    func `loads use their share where a store answers heartbeats and refuses slots`() async {
        let clock = ManualClock()
        let store = Refusing()
        let bed = TestBed(otherwise: .respond(status: 200), clock: clock) { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
            configuration.rateLimiter.share(through: store, expectedMembers: 2)
        }
        await clock.autoAdvance {
            for _ in 0..<200 { bed.loader.perform(.make()) }
            _ = await bed.delegate.outcomes(200)
        }
        // Five a second, and less while the store is tried again: ever less often.
        let last = bed.starts.map(\.at).max() ?? .zero
        #expect(last < .seconds(50), "\(last)")
        #expect(store.leases.withLock { $0 } < 80)
        await bed.service.shutDown(gracePeriod: .zero)
    }

    /// A store that gives slots of all hosts but one.
    private final class RefusingOne: QuotaProvider {
        let other: any QuotaProvider
        let isMended = Locked(false)

        init(_ other: any QuotaProvider) { self.other = other }

        func lease(_ request: QuotaRequest) async throws -> QuotaLease {
            let isRefused = request.key.host == "refused.test" && !isMended.withLock { $0 }
            if isRefused { throw Refusing.Refusal() }
            return try await other.lease(request)
        }

        func close(_ key: QuotaKey, for delay: Duration) async throws {
            try await other.close(key, for: delay)
        }

        func heartbeat() async throws -> FleetView { try await other.heartbeat() }

        func shutDown() async { await other.shutDown() }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [100, 12])
    func `loads of a key that the store refuses use their share, and others their slots`(
        given count: Int
    ) async throws {
        let clock = ManualClock()
        let quota = SharedQuota(clock: clock)
        let store = RefusingOne(quota.makeMember("a"))
        let bed = TestBed(otherwise: .respond(status: 200), clock: clock) { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
            configuration.rateLimiter.share(through: store, expectedMembers: 2)
        }
        // Another daemon, which says that it is there and loads nothing.
        let other = quota.makeMember("b")
        let beats = Task { [clock] in
            while !Task.isCancelled {
                _ = try? await other.heartbeat()
                try? await clock.sleep(for: .seconds(1))
            }
        }
        defer { beats.cancel() }
        func starts(_ host: String) -> [Duration] {
            bed.starts.filter { $0.host == host }.map(\.at)
        }
        // The clock does not advance while loads are added.
        for _ in 0..<50 { bed.loader.perform(.make(host: "http://refused.test")) }
        for _ in 0..<count { bed.loader.perform(.make(host: "http://given.test")) }
        await clock.autoAdvance { _ = await bed.delegate.outcomes(50 + count) }
        #expect(starts("given.test").count == count)
        // Five a second, which is half of the rate, after the patience.
        let refused = starts("refused.test")
        #expect(refused.count == 50)
        let last = refused.max() ?? .zero
        #expect((.seconds(9)...(.seconds(13))).contains(last), "\(last)")
        #expect(bed.service.snapshot().sharing?.source == .store)
        #expect(bed.service.snapshot().sharing?.refused == 1)
        // It is asked again, and then keeps the common line.
        store.isMended.withLock { $0 = true }
        let used = bed.service.snapshot().sharing?.used ?? 0
        for _ in 0..<100 { bed.loader.perform(.make(host: "http://refused.test")) }
        await clock.autoAdvance { _ = await bed.delegate.outcomes(150 + count) }
        #expect(bed.service.snapshot().sharing?.refused == 0)
        #expect(bed.service.snapshot().sharing?.used ?? 0 >= used + 50)
        await bed.service.shutDown(gracePeriod: .zero)
    }

    @Test func `all keys hear that the store is given up, whoever asks first`() throws {
        var shared = shared
        let rule = try RateRule.tenPerSecond()
        for key in keys {
            _ = shared.reserve(key, requestsPerSecond: 10, notBefore: nil, at: .at(0))
        }
        _ = shared.takeOrders()
        shared.prepare(keys[0])
        let demand = SlotDemand(count: 1, latest: .distantFuture)
        let begun = shared.begin(keys[0], rule, demand, at: .at(0))
        let number = try #require(begun?.number)
        _ = shared.failed(keys[0], number, at: .at(1), chance: 0.5)
        // The patience has ended, and its timer is late.
        let now = Instant.at(260)
        let answer = shared.reserve(keys[0], requestsPerSecond: 10, notBefore: nil, at: now)
        #expect(answer == .paused)
        let news = shared.wake(at: now, chance: 0.5)
        #expect(news.everybody)
        #expect(shared.circuit.isShared == false)
    }

    @Test func `slots that nobody uses are forgotten with their key`() throws {
        var shared = shared
        let rule = try RateRule.tenPerSecond()
        let demand = SlotDemand(count: 1, latest: .distantFuture)
        for (index, key) in [RuleKey].make(1_000).enumerated() {
            let now = Instant.at(Int64(index) * 1_000)
            _ = shared.reserve(key, requestsPerSecond: 10, notBefore: nil, at: now)
            let begun = shared.begin(key, rule, demand, at: now)
            let number = try #require(begun?.number)
            let lease = QuotaLease(
                count: 1, firstStart: .zero, interval: ms(100), lead: ms(100), gate: .zero)
            _ = shared.answered(key, number, lease, at: now)
        }
        #expect(shared.keys.count < 200)
    }
}
