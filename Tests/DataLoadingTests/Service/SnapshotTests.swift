// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoadingSupport
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a service says of its state.
@Suite struct SnapshotTests {
    @Test func `a service without loads says so`() async {
        let bed = TestBed()
        let empty = bed.service.snapshot()
        #expect(empty.stage == .open && empty.liveLoads == 0)
        #expect(empty.waiting == 0 && empty.running == 0 && empty.queueCapacity == 10_000)
        #expect(empty.origins.isEmpty && empty.rules.isEmpty && empty.addresses.isEmpty)
        await bed.service.shutDown(gracePeriod: .zero)
        #expect(bed.service.snapshot().stage == .over)
    }

    @Test func `waiting and running loads are counted by origin`() {
        let bed = TestBed { $0.limits.perOrigin = 2 }
        for number in 0..<5 { bed.loader.perform(.make("/\(number)")) }
        bed.loader.perform(DataLoaderRequest(url: testURL("https://other.test/")))
        bed.settle()
        let snapshot = bed.service.snapshot()
        #expect(snapshot.liveLoads == 6 && snapshot.waiting == 3 && snapshot.running == 3)
        #expect(snapshot.origins.map(\.origin) == ["http://origin.test", "https://other.test"])
        #expect(snapshot.origins.map(\.waiting) == [3, 0])
        #expect(snapshot.origins.map(\.running) == [2, 1])
        #expect(snapshot.origins.map(\.limit) == [2, 2])
        bed.service.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `rates tell what they admitted, and what a Retry-After closes`() async throws {
        let bed = TestBed([.respond(status: 429, headers: ["Retry-After": "30"])])
        let url = testURL("http://origin.test/")
        let limiter = bed.service.rateLimiter
        limiter.setRequestsPerSecond(100, burst: 4, forHostOf: url)
        limiter.setRequestsPerSecond(0, forPathOf: testURL("https://b.test/slow/x"))
        bed.loader.perform(.make("/"))
        _ = await bed.outcome()
        let rules = bed.service.snapshot().rules
        #expect(rules.map(\.origin) == ["http://origin.test", "https://b.test"])
        #expect(rules.map(\.pathComponent) == [nil, "slow"])
        #expect(rules.map(\.requestsPerSecond) == [100, 0])
        #expect(rules.map(\.burst) == [4, nil])
        #expect(rules.map(\.admitted) == [1, 0])
        #expect(rules.map(\.gateClosings) == [1, 0])
        #expect(rules.map(\.gateRemaining) == [.seconds(30), nil])
        bed.advance(.seconds(30))
        #expect(bed.service.snapshot().rules.map(\.gateRemaining) == [nil, nil])
    }

    @Test func `shared rates tell where their slots come from, and others tell nothing`()
        async throws
    {
        let clock = ManualClock()
        let quota = SharedQuota(clock: clock)
        let policies: [LossPolicy] = [.share(for: nil), .pause]
        let beds = policies.map { policy in
            TestBed(otherwise: .respond(status: 200), clock: clock) { configuration in
                configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
                configuration.rateLimiter.share(
                    through: quota.makeMember("\(policy)"), expectedMembers: 8,
                    whenLost: policy)
            }
        }
        try await clock.autoAdvance { try await clock.sleep(for: .seconds(3)) }
        func states() -> [SharingState?] { beds.map { $0.service.snapshot().sharing } }
        let shared = SharingState(source: .store, present: 2, known: 2)
        #expect(states() == [shared, shared])
        quota.outage = .silence
        for bed in beds { bed.loader.perform(.make()) }
        try await clock.autoAdvance { try await clock.sleep(for: .seconds(3)) }
        #expect(
            states()
                == [.ownShare, .none].map {
                    SharingState(source: $0, present: 2, known: 2)
                })
        #expect(TestBed().service.snapshot().sharing == nil)
        quota.outage = nil
        for bed in beds { await bed.service.shutDown(gracePeriod: .zero) }
    }

    @Test func `counts outlive the sweep of idle keys`() throws {
        let clock = ManualClock()
        let limiter = RateLimiter(defaultRequestsPerSecond: 1_000)
        limiter.adopt(clock.timekeeper)
        let url = testURL("http://a.test/")
        limiter.setRequestsPerSecond(1_000, forHostOf: url)
        let key = limiter.ruleKey(for: try RequestTarget(url))
        for number in 0..<500 {
            #expect(limiter.reserve(key) == .granted)
            let other = try RequestTarget(text: "http://h\(number).test/")
            #expect(limiter.reserve(limiter.ruleKey(for: other)) == .granted)
            clock.advance(by: ms(10))
        }
        #expect(limiter.busyKeys < 200)
        #expect(limiter.ruleStates.map(\.admitted) == [500])
    }

    @Test func `credentials tell how they stand, those first that cannot be used`() async {
        let fetch = HeldFetch<AccessToken>()
        let bed = TestBed()
        let hosts: Set = ["origin.test"]
        let authoriser = TokenAuthoriser(hosts: hosts, clock: bed.clock) { _ in
            try await fetch(nil)
        }
        let ready = StaticTokenAuthoriser(token: "t", hosts: hosts)
        let factory = bed.service.makeFactory(authorisers: [authoriser, ready])
        let other = bed.service.makeFactory(authorisers: [authoriser])
        let loader = factory.makeDataLoader()
        loader.perform(.make("/a", host: "https://origin.test"))
        let first = await fetch.call(0)
        await eventually { bed.service.snapshot().credentials.first?.waiting == 1 }
        let waiting = bed.service.snapshot().credentials
        #expect(
            waiting == [
                CredentialState(
                    authoriser: authoriser.identifier, isUsable: false, remaining: nil, fetches: 1,
                    failures: 0, hasFailed: false, waiting: 1)
            ])
        first.answer(AccessToken("secret", lifetime: .seconds(60)))
        await eventually { bed.service.snapshot().credentials.first?.isUsable == true }
        bed.clock.advance(by: .seconds(10))
        let valid = bed.service.snapshot().credentials
        #expect(valid.map(\.remaining) == [.seconds(50)])
        #expect(valid.map(\.waiting) == [0])
        #expect(!"\(valid)".contains("secret"))
        bed.clock.advance(by: .seconds(50))
        #expect(bed.service.snapshot().credentials.map(\.isUsable) == [false])
        withExtendedLifetime((factory, other)) {}
        bed.service.cancelAllLoads()
    }

    @Test func `addresses tell what they are used for`() {
        let bed = TestBed()
        let resolver = bed.service.resolver
        resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "a.test")
        resolver.markAddressAsUnreachable("10.0.0.2")
        var addresses = bed.service.snapshot().addresses
        #expect(addresses.map(\.address) == ["10.0.0.2", "10.0.0.1", "a.test"])
        #expect(addresses.map(\.condition) == [.ejected, .inUse, .inUse])
        #expect(addresses[0].ejectionRemaining.map { $0 > .zero && $0 <= .seconds(30) } == true)
        bed.advance(.seconds(30))
        addresses = bed.service.snapshot().addresses
        #expect(addresses.map(\.condition) == [.due, .inUse, .inUse])
        #expect(addresses.allSatisfy { $0.ejectionRemaining == nil })
        _ = resolver.choose(forHost: "a.test", excluding: ["10.0.0.1", "a.test"])
        #expect(bed.service.snapshot().addresses.map(\.condition) == [.probing, .inUse, .inUse])
    }

    @Test func `an origin that has spent its budget or fails to connect is listed`() async {
        let bed = TestBed(otherwise: .fail(.connectRefused)) { $0.retry.maximumRetryCount = 1 }
        bed.loader.perform(.make("/"))
        bed.settle()
        #expect(bed.service.snapshot().origins.map(\.isFailing) == [true])
        bed.passPause()
        _ = await bed.outcome()
        bed.settle()
        let origin = bed.service.snapshot().origins.first
        #expect(origin?.running == 0)
        #expect(origin?.retryBudget.map { $0 < 500 } == true)
        // Also between two loads, for as long as nothing better is known.
        bed.advance(.seconds(599))
        #expect(bed.service.snapshot().origins.map(\.isFailing) == [true])
        bed.advance(.seconds(2))
        #expect(bed.service.snapshot().origins.map(\.isFailing) == [false])
    }

    @Test func `an origin that responds can be reached again`() async {
        let answers: [ScriptedAnswer] = [
            .fail(.connectRefused), .respond(status: 503), .fail(.connectRefused),
        ]
        let bed = TestBed(answers)
        for isFailing in [true, false, true] {
            bed.loader.perform(.make("/"))
            bed.settle()
            let origins = bed.service.snapshot().origins
            #expect(origins.contains { $0.isFailing } == isFailing)
            bed.advance(.seconds(1))
        }
    }

    @Test func `lists are bounded`() throws {
        let bed = TestBed()
        for number in 0..<100 {
            bed.service.rateLimiter.setRequestsPerSecond(
                1, forHostOf: testURL("http://h\(number).test/"))
            bed.service.resolver.setAddresses(["10.0.0.1"], forHost: "h\(number).test")
        }
        let snapshot = bed.service.snapshot()
        #expect(snapshot.rules.count == 64 && snapshot.otherRules == 36)
        #expect(snapshot.addresses.count == 64 && snapshot.otherAddresses == 136)
    }

    @Test func `snapshots may be taken while loads run and settings change`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let url = testURL("http://origin.test/")
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<300 { bed.loader.perform(.make("/")) }
            }
            group.addTask {
                for _ in 0..<300 {
                    let snapshot = bed.service.snapshot()
                    #expect(snapshot.running <= 64 && snapshot.origins.count <= 1)
                }
            }
            group.addTask {
                for number in 1...100 {
                    try? bed.service.rateLimiter.replaceRates(
                        number % 2 == 0
                            ? [.path(of: testURL("http://origin.test/x"), requestsPerSecond: 5)]
                            : [.host(of: url, requestsPerSecond: 1_000_000, burst: 1_000)],
                        defaultRequestsPerSecond: nil)
                }
            }
        }
        try bed.service.rateLimiter.replaceRates([], defaultRequestsPerSecond: nil)
        #expect(await bed.delegate.outcomes(300).count == 300)
        bed.expectNothingLeft()
    }
}
