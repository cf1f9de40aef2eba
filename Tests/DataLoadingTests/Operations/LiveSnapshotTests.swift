// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

@Suite struct LiveSnapshotTests {
    private let scene = DashboardScene()

    private func origin(_ name: String, isFailing: Bool = false) -> OriginState {
        OriginState(
            origin: name, waiting: 1, running: 1, limit: 6, retryBudget: 500, isFailing: isFailing)
    }

    @Test(arguments: [3, 40, 230, 5_000])
    func `a snapshot has at most 16 KiB, however long its lists and names are`(
        _ length: Int
    ) throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: nil)
        let name = String(repeating: "a", count: min(63, length))
        let path = String(repeating: "\"p", count: length)
        for index in 0..<64 {
            limiter.setRequestsPerSecond(
                5,
                forPathOf: testURL("https://\(name)\(index).test/")
                    .appendingPathComponent(path))
            for number in 0..<6 { scene.load(2, feature: "\(index % 40) \(path) \(number)") }
        }
        let service = ServiceSnapshot.make(
            origins: (0..<64).map { origin("https://\(path)\($0).test", isFailing: true) },
            limiter: limiter,
            addresses: (0..<64).map { index in
                AddressState(
                    host: "\(path)\(index)", address: path, condition: .ejected,
                    ejectionRemaining: .seconds(9), ejections: 1, lastFailure: "connect_timeout")
            },
            credentials: (0..<64).map { index in
                CredentialState(
                    authoriser: "\(path)\(index)", isUsable: true, remaining: .seconds(9),
                    fetches: 1, failures: 1, hasFailed: false,
                    lastFailure: AuthorisationError.invalidAnswer(reason: path), waiting: 2)
            },
            transport: TransportSnapshot(
                openConnections: 9, runningAttempts: 2, longestRound: .milliseconds(3)))
        #expect(service.rules.count == 64)
        scene.state.show { service }
        let bytes = scene.state.snapshot()
        #expect(bytes.count <= 16_384)
        #expect(!bytes.contains(UInt8(ascii: "\n")))
        let shown = try #require(scene.snapshot["service"] as? [String: Any])
        for (list, others) in [
            ("origins", "otherOrigins"), ("rules", "otherRules"), ("addresses", "otherAddresses"),
            ("credentials", "otherCredentials"),
        ] {
            let count = try #require((shown[list] as? [Any])?.count)
            #expect(count + (shown[others] as? Int ?? 0) == 64)
            #expect(count >= 4)
        }
        let transport = try #require(shown["transport"] as? [String: Any])
        #expect(transport["openConnections"] as? Int == 9)
        #expect(transport["longestRound"] as? Double == 0.003)
        let features = try #require(scene.snapshot["features"] as? [Any]).count
        #expect(features + (scene.snapshot["otherFeatures"] as? Int ?? 0) == 33)
        #expect(scene.snapshot["troubles"] as? Int == 128)
    }

    @Test func `names do not reverse or break a line`() throws {
        scene.load(1, feature: "a\u{202E}b\u{2028}c\nd")
        #expect(scene.features.first?["name"] as? String == "a?b?c?d")
    }

    @Test func `the sentence names what is held, left out and failing`() throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: nil)
        let url = testURL("https://api.test/catalogue/1")
        limiter.setRequestsPerSecond(5, forPathOf: url)
        try limiter.setRetryAfter(.seconds(41), for: url)
        let service = ServiceSnapshot.make(
            origins: [origin("https://gone.test", isFailing: true), origin("https://api.test")],
            limiter: limiter,
            addresses: [
                AddressState(
                    host: "api.test", address: "edge-2", condition: .ejected,
                    ejectionRemaining: .milliseconds(26_100), ejections: 1,
                    lastFailure: "connect_refused"),
                AddressState(
                    host: "api.test", address: "edge-1", condition: .inUse,
                    ejectionRemaining: nil, ejections: 0, lastFailure: "503"),
            ])
        scene.state.show { service }
        scene.load(20, feature: "catalogue")
        scene.load(18, feature: "search")
        scene.load(2, feature: "search", error: .connectionReset)
        // Cancelled loads are no failures.
        scene.load(9, feature: "images", error: .cancelled)
        #expect(
            scene.sentence
                == "Serving 3 features. api.test/catalogue is held by the server for 41 s "
                + "(Retry-After). edge-2 is left out for 27 s (connect_refused). gone.test cannot be reached. "
                + "search: 2 of 20 loads failed in the last minute (connection_reset).")
        #expect(scene.snapshot["troubles"] as? Int == 4)
    }

    @Test func `the sentence names a cache, a log and a credential that fail`() {
        var cache = CacheStatistics()
        cache.refusesWrites = true
        func credential(_ name: String, isUsable: Bool, hasFailed: Bool) -> CredentialState {
            CredentialState(
                authoriser: name, isUsable: isUsable, remaining: nil, fetches: 2, failures: 1,
                hasFailed: hasFailed, waiting: 0)
        }
        let credentials = [
            credential("a", isUsable: false, hasFailed: true),
            credential("b", isUsable: true, hasFailed: true),
            credential("c", isUsable: false, hasFailed: false),
        ]
        let trouble = Locked<LogTrouble?>(.writing)
        let service = ServiceSnapshot.make(credentials: credentials, cache: cache)
        scene.state.show {
            service
        } log: {
            LogState(trouble: trouble.withLock { $0 })
        }
        let before =
            "No loads yet. a could not get a credential. The disk of the cache has refused a response. "
        #expect(scene.sentence == before + "The log cannot be written, and loses lines.")
        #expect(scene.snapshot["troubles"] as? Int == 3)
        trouble.withLock { $0 = .reopening }
        #expect(
            scene.sentence == before
                + "The log's file cannot be opened again; lines go to the one before.")
        let shown = scene.snapshot["service"] as? [String: Any]
        #expect((shown?["cache"] as? [String: Any])?["refusesWrites"] as? Bool == true)
    }

    @Test(arguments: [
        (SharingState.Source.store, "store", "No loads yet. Nothing is held or left out."),
        (
            .ownShare, "ownShare",
            "No loads yet. The store of shared rates does not answer; this daemon uses its share, "
                + "1/8."
        ),
        (
            .none, "none",
            "No loads yet. The store of shared rates does not answer; loads with a rate wait."
        ),
    ])
    func `a snapshot and its sentence tell whether rates are shared`(
        _ source: SharingState.Source, _ name: String, _ sentence: String
    ) throws {
        scene.state.show {
            .make(sharing: SharingState(source: source, present: 6, known: 8))
        }
        let service = try #require(scene.snapshot["service"] as? [String: Any])
        let sharing = try #require(service["sharing"] as? [String: Any])
        #expect(sharing["source"] as? String == name)
        #expect(sharing["present"] as? Int == 6)
        #expect(sharing["known"] as? Int == 8)
        #expect(scene.sentence == sentence)
        scene.state.show { .make() }
        #expect((scene.snapshot["service"] as? [String: Any])?["sharing"] == nil)
    }

    @Test(arguments: [
        (ServiceSnapshot.Stage.closing, "The service is shutting down; loads left: 3."),
        (.over, "The service is shut down."),
    ])
    func `the sentence tells of an end`(_ stage: ServiceSnapshot.Stage, _ text: String) {
        scene.state.show { .make(stage: stage, waiting: 1, running: 2) }
        #expect(scene.sentence == text)
    }

    @Test func `many troubles of a kind are counted`() {
        let origins = (1...5).map { origin("https://\($0).test", isFailing: true) }
        scene.state.show { .make(origins: origins) }
        #expect(
            scene.sentence == "No loads yet. 1.test cannot be reached. 2.test cannot be reached. "
                + "3.test cannot be reached. 2 cannot be reached either.")
    }

    @Test func `a histogram finds quantiles within a tenth`() {
        for exponent in 0..<60 {
            let time = Duration.milliseconds(1) * pow(1.2, Double(exponent))
            var histogram = TimeHistogram()
            histogram.add(time)
            let found = histogram.quantile(0.5) ?? .zero
            #expect(abs(found.inSeconds / time.inSeconds - 1) < 0.13)
        }
        var histogram = TimeHistogram()
        #expect(histogram.quantile(0.5) == nil)
        histogram.add(.seconds(-1))
        histogram.add(.saturating(seconds: .infinity))
        #expect(histogram.quantile(0.99) == .microseconds(1 << 28))
    }
}
