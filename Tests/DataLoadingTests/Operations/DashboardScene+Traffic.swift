// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation

extension DashboardScene {
    /// Ten minutes of a daemon with four features, in which something goes wrong.
    func makeTraffic() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3_000 { makeLoad(&generator) }
        let service = try Self.service()
        state.show({ service }, log: { LogState() })
    }

    private func makeLoad(_ generator: inout SeededGenerator) {
        clock.advance(by: .milliseconds(Int.random(in: 20...160, using: &generator)))
        let number = nextLoad()
        let kinds = [
            ("catalogue", "https://api.example.com/catalogue/v2/items/\(number)", 60_000),
            ("images", "https://cdn.example.com/images/\(number).webp", 3_000_000),
            ("search", "https://search.example.com/query?q=secret", 20_000),
            ("telemetry", "https://ingest.example.net/v1/batch", 2_000),
        ]
        let kind = [0, 0, 0, 1, 1, 2, 2, 3].randomElement(using: &generator) ?? 0
        let (feature, url, bytes) = kinds[kind]
        let dice = Int.random(in: 0..<100, using: &generator)
        let failures = kind == 2 && dice < 60 ? dice % 4 : dice < 7 ? 1 : 0
        let (slot, token) = (
            kind == 0 && dice % 3 == 0 ? 0.24 : 0, dice % 17 == 0 ? 0.08 : 0
        )
        clock.advance(by: .saturating(seconds: slot + token))
        let begun = clock.instant
        var backOff = 0.0
        for failure in 0..<failures {
            run(attempt(&generator, fails: true, isRetry: failure > 0), of: number, url: url)
            guard failure < 2 else { break }
            let pause = 0.1 * pow(2, Double(failure))
            clock.advance(by: .saturating(seconds: pause))
            backOff += pause
        }
        let isFailed = failures > 2
        if !isFailed {
            run(attempt(&generator, fails: false, isRetry: failures > 0), of: number, url: url)
        }
        let attempts = clock.instant - begun
        let size = Int64.random(in: Int64(bytes / 9)...Int64(bytes), using: &generator)
        end(
            number, feature: feature, url: url, status: isFailed ? 503 : 200,
            error: isFailed ? .status(503) : nil, bytes: size
        ) { metrics in
            metrics.totalTime = attempts + .saturating(seconds: slot + token)
            metrics.admissionTime = .saturating(seconds: slot)
            metrics.authorisationTime = .saturating(seconds: token)
            metrics.backOffTime = .saturating(seconds: backOff)
        }
    }

    private func attempt(
        _ generator: inout SeededGenerator, fails: Bool, isRetry: Bool
    ) -> Attempt {
        var attempt = Attempt(cause: isRetry ? .retry : nil)
        let isNew = Int.random(in: 0..<3, using: &generator) == 0
        let wait = Double.random(in: 0.01...0.09, using: &generator)
        attempt.report.reusedConnection = !isNew
        attempt.report.connectTime = isNew ? .milliseconds(18) : nil
        attempt.report.tlsTime = isNew ? .milliseconds(31) : nil
        let first = wait + (isNew ? 0.049 : 0)
        attempt.report.firstByteTime = .saturating(seconds: first)
        attempt.seconds = first + Double.random(in: 0.002...0.12, using: &generator)
        attempt.report.remoteAddress = "192.0.2.\(Int.random(in: 10...13, using: &generator))"
        attempt.report.httpVersion = "2"
        guard fails else { return attempt }
        if Bool.random(using: &generator) {
            attempt.status = 503
        } else {
            attempt.status = nil
            attempt.error = .connectionReset
            attempt.report.firstByteTime = nil
        }
        return attempt
    }

    private static func service() throws -> ServiceSnapshot {
        let limiter = RateLimiter(defaultRequestsPerSecond: 50)
        let rates = [
            ("https://cdn.example.com/", 200.0), ("https://search.example.com/", 20),
            ("https://ingest.example.net/", 5), ("https://api.example.com/", 40),
        ]
        for (url, rate) in rates {
            limiter.setRequestsPerSecond(rate, burst: 5, forHostOf: testURL(url))
        }
        let catalogue = testURL("https://api.example.com/catalogue/")
        limiter.setRequestsPerSecond(10, forPathOf: catalogue)
        try limiter.setRetryAfter(.seconds(41), for: catalogue)
        func origin(_ host: String, _ waiting: Int, _ running: Int, _ budget: Int) -> OriginState {
            OriginState(
                origin: "https://" + host, waiting: waiting, running: running, limit: 6,
                retryBudget: budget, isFailing: false)
        }
        func address(_ name: String, _ condition: AddressState.Condition) -> AddressState {
            AddressState(
                host: "api.example.com", address: name, condition: condition,
                ejectionRemaining: condition == .ejected ? .milliseconds(26_300) : nil,
                ejections: condition == .inUse ? 0 : 1,
                lastFailure: condition == .inUse ? nil : "connect_refused")
        }
        return .make(
            waiting: 12, running: 13,
            origins: [
                origin("api.example.com", 9, 2, 500), origin("cdn.example.com", 0, 6, 487),
                origin("search.example.com", 3, 4, 62), origin("ingest.example.net", 0, 1, 500),
                origin("auth.example.com", 0, 0, 500),
            ],
            limiter: limiter,
            addresses: [
                address("edge-2.example.com", .ejected), address("edge-1.example.com", .inUse),
                address("edge-3.example.com:8443", .inUse), address("api.example.com", .probing),
            ],
            credentials: [
                CredentialState(
                    authoriser: "OAuthAuthoriser", isUsable: true, remaining: .seconds(2_520),
                    fetches: 4, failures: 1, hasFailed: false,
                    lastFailure: AuthorisationError.timedOut, waiting: 0)
            ],
            transport: TransportSnapshot(
                openConnections: 23, runningAttempts: 19, longestRound: .microseconds(840)))
    }
}
