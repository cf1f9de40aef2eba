// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct RetryPlannerTests {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600)
    private static let origin = Origin(isSecure: true, host: "a.test", port: 443)

    private struct Load {
        var configuration = RetryConfiguration()
        var request: DataLoaderRequest
        var retries = 0
        var remaining: Duration?
        var seed: UInt64 = 1
        var originHealth: OriginHealth?

        init(_ policy: (any RetryPolicy)? = nil, maximum: Int? = 3) throws {
            request = DataLoaderRequest(url: try #require(URL(string: "https://a.test")))
            request.maximumRetryCount = maximum
            request.retryPolicy = policy
        }

        func decide(_ finished: FinishedAttempt) -> RetryDecision {
            let planner = RetryPlanner(
                configuration: configuration,
                originHealth: originHealth ?? OriginHealth(configuration),
                random: RandomSource(SeededGenerator(seed: seed)))
            let circumstances = RetryPlanner.Circumstances(
                retries: retries, request: request, origin: RetryPlannerTests.origin,
                remaining: remaining, date: RetryPlannerTests.date)
            return planner.decide(after: finished, circumstances)
        }

        func decide(_ status: Int, _ headers: HTTPHeaders = [:]) -> RetryDecision {
            let head = ResponseHead(status: HTTPStatus(rawValue: status), headers: headers)
            return decide(FinishedAttempt(.response(head), mayBeSentTwice: true))
        }

        func decide(_ error: DataLoaderError, sent: SentState = .written) -> RetryDecision {
            decide(FinishedAttempt(.failure(error, sent), mayBeSentTwice: true))
        }
    }

    private func pause(_ decision: RetryDecision) -> Duration? {
        guard case .retry(let pause, _) = decision else { return nil }
        return pause
    }

    @Test func `nothing is retried unless a request or service asks for it`() throws {
        var load = try Load(maximum: nil)
        #expect(load.decide(503) == .stop(.maximum))
        #expect(load.decide(.connectionReset) == .stop(.maximum))
        load.configuration.maximumRetryCount = 1
        #expect(pause(load.decide(503)) != nil)
        load.retries = 1
        #expect(load.decide(503) == .stop(.maximum))
    }

    // Retries are counted; the first attempt is not a retry.
    @Test func `a maximum of three retries is four attempts`() throws {
        var load = try Load(maximum: 3)
        for retries in 0..<3 {
            load.retries = retries
            #expect(pause(load.decide(.noResponse)) != nil)
        }
        load.retries = 3
        #expect(load.decide(.noResponse) == .stop(.maximum))
    }

    @Test func `default pauses double each time up to 20 s and are drawn at random`() throws {
        var load = try Load(maximum: 20)
        for retries in 0..<12 {
            load.retries = retries
            var longest = Duration.zero
            var longestThrottled = Duration.zero
            for seed in 0..<40 as Range<UInt64> {
                load.seed = seed
                longest = max(longest, try #require(pause(load.decide(500))))
                longestThrottled = max(longestThrottled, try #require(pause(load.decide(429))))
            }
            let factor = Double(1 << retries)
            #expect(longest.inSeconds <= min(20, 0.2 * factor))
            #expect(longest.inSeconds > min(20, 0.2 * factor) * 0.8)
            #expect(longestThrottled.inSeconds <= min(20, factor))
            #expect(longestThrottled.inSeconds > min(20, factor) * 0.8)
        }
    }

    @Test(arguments: [0, 1, 5, 30, 59, 60] as [Int64])
    func `Retry-After is the shortest pause, and one tenth or the base is added at most`(
        seconds: Int64
    ) throws {
        var load = try Load(maximum: 1)
        let asked = Duration.seconds(seconds)
        let most = min(.seconds(60), asked + max(asked / 10, .seconds(1)))
        var longest = Duration.zero
        for seed in 0..<50 as Range<UInt64> {
            load.seed = seed
            let pause = try #require(self.pause(load.decide(429, ["Retry-After": "\(seconds)"])))
            #expect(pause >= asked && pause <= most)
            longest = max(longest, pause)
        }
        #expect(longest - asked >= (most - asked) * 4 / 5)
    }

    @Test func `a Retry-After above 60 s or beyond the deadline ends the load`() throws {
        var load = try Load()
        #expect(load.decide(503, ["Retry-After": "61"]) == .stop(.retryAfter))
        let huge = String(repeating: "9", count: 99)
        #expect(load.decide(503, ["Retry-After": huge]) == .stop(.retryAfter))
        load.remaining = .seconds(10)
        #expect(load.decide(503, ["Retry-After": "10"]) == .stop(.deadline))
        let pause = try #require(self.pause(load.decide(503, ["Retry-After": "9"])))
        #expect(pause >= .seconds(9) && pause <= .seconds(10))
        load.remaining = .zero
        #expect(load.decide(500) == .stop(.deadline))
    }

    @Test func `an unreadable Retry-After changes nothing`() throws {
        let load = try Load()
        for text in ["soon", "-1", "1.5", ""] {
            #expect(load.decide(503, ["Retry-After": text]) == load.decide(503))
        }
        #expect(pause(load.decide(503, ["Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"])) != nil)
    }

    @Test func `each retry costs tokens, and there is none without enough tokens`() throws {
        var load = try Load()
        load.configuration.budget = 20
        let originHealth = OriginHealth(load.configuration)
        load.originHealth = originHealth
        guard case .retry(_, .transient) = load.decide(.connectionReset) else {
            Issue.record("no retry")
            return
        }
        #expect(load.decide(500) == .stop(.budget))
        guard case .retry(_, .throttled) = load.decide(429) else {
            Issue.record("no retry")
            return
        }
        #expect(originHealth.balance(of: Self.origin) == 1)
        // A retry that is refused for another reason costs nothing.
        #expect(load.decide(503, ["Retry-After": "99"]) == .stop(.retryAfter))
        #expect(load.decide(.pin) == .stop(.notRetryable))
        #expect(originHealth.balance(of: Self.origin) == 1)
    }

    @Test func `a custom retry policy decides about every outcome that may be retried`() throws {
        struct Scripted: RetryPolicy {
            let answer: Duration?
            func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? { answer }
        }
        var load = try Load(Scripted(answer: .seconds(7)), maximum: nil)
        #expect(load.decide(404) == .retry(after: .seconds(7), cost: .transient))
        #expect(load.decide(202) == .retry(after: .seconds(7), cost: nil))
        #expect(load.decide(503) == .retry(after: .seconds(7), cost: .throttled))
        #expect(load.decide(.pin) == .stop(.notRetryable))
        #expect(load.decide(.cancelled) == .stop(.notRetryable))
        let post = FinishedAttempt(
            .response(ResponseHead(status: .notFound)), mayBeSentTwice: false)
        #expect(load.decide(post) == .stop(.notRetryable))
        load.request.retryPolicy = Scripted(answer: .zero)
        #expect(load.decide(404) == .retry(after: .zero, cost: .transient))
        load.request.retryPolicy = Scripted(answer: .seconds(-5))
        #expect(load.decide(404) == .retry(after: .zero, cost: .transient))
        load.request.retryPolicy = Scripted(answer: nil)
        #expect(load.decide(503) == .stop(.policy))
        load.request.retryPolicy = nil
        load.request.maximumRetryCount = 3
        #expect(load.decide(404) == .stop(.policy))
        #expect(load.decide(200) == .stop(.policy))
    }

    @Test func `a retry policy sees the whole outcome and cannot pause less than Retry-After`()
        throws
    {
        let seen = Locked<[(Int, AttemptOutcome)]>([])
        struct Spy: RetryPolicy {
            let seen: Locked<[(Int, AttemptOutcome)]>
            func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
                // The request retains this policy.
                var outcome = outcome
                outcome.request.retryPolicy = nil
                seen.withLock { [outcome] in $0.append((n, outcome)) }
                return .seconds(1)
            }
        }
        var load = try Load(Spy(seen: seen), maximum: nil)
        load.retries = 4
        let pause = try #require(self.pause(load.decide(429, ["Retry-After": "20", "X-A": "b"])))
        #expect(pause >= .seconds(20) && pause <= .seconds(22))
        _ = load.decide(.noResponse)
        let (n, outcome) = try #require(seen.withLock { $0.first })
        #expect(n == 5)
        #expect(outcome.status == .tooManyRequests)
        #expect(outcome.headers["x-a"] == "b")
        #expect(outcome.retryAfter == .seconds(20))
        #expect(outcome.isTransient)
        let last = try #require(seen.withLock { $0.last?.1 })
        #expect(last.error == .noResponse && last.status == nil)
        _ = load.decide(404)
        #expect(seen.withLock { $0.last?.1.isTransient } == false)
    }

    @Test func `the request's own maximum also limits its policy`() throws {
        var load = try Load(.immediately(maximumRetries: 9), maximum: 1)
        #expect(load.decide(503) == .retry(after: .zero, cost: .throttled))
        load.retries = 1
        #expect(load.decide(503) == .stop(.maximum))
    }

    // Every pause is at least Retry-After, at most 60 s and within the deadline.
    @Test func `no pause is shorter than Retry-After or longer than allowed`() throws {
        let base = try Load(maximum: .max)
        property { generator in
            var load = base
            load.seed = generator.next()
            load.retries = Int.random(in: 0...30, using: &generator)
            let remaining = Int64.random(in: 0...100_000, using: &generator)
            load.remaining = Bool.random(using: &generator) ? ms(remaining) : nil
            let asked =
                Bool.random(using: &generator)
                ? Int64.random(in: 0...80, using: &generator) : nil
            let status = [408, 429, 500, 503].randomElement(using: &generator) ?? 500
            let headers: HTTPHeaders = asked.map { ["Retry-After": "\($0)"] } ?? [:]
            switch load.decide(status, headers) {
            case .stop(.deadline): return load.remaining == nil ? "there is no deadline" : nil
            case .stop(.retryAfter): return (asked ?? 0) <= 60 ? "\(asked ?? 0) s is allowed" : nil
            case .stop(let reason): return "stopped: \(reason)"
            case .retry(let pause, _):
                guard pause >= .seconds(asked ?? 0) else { return "\(pause) is less than asked" }
                guard pause <= .seconds(60) else { return "\(pause) is too long" }
                guard pause <= load.remaining ?? pause else { return "\(pause) is too late" }
                return nil
            }
        }
    }
}
