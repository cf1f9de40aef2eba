// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct BuiltInRetryPolicyTests {
    private func outcome(
        _ status: HTTPStatus?, _ headers: HTTPHeaders = [:], retryAfter: Duration? = nil
    ) -> AttemptOutcome {
        var outcome = AttemptOutcome(
            of: .make(), status: status, headers: headers, retryAfter: retryAfter)
        outcome.random = RandomSource(SeededGenerator(seed: 5))
        outcome.date = Date(timeIntervalSince1970: 1_000_000)
        return outcome
    }

    private func delays(
        _ policy: some RetryPolicy, _ outcome: AttemptOutcome
    ) -> [Duration?] {
        (1...4).map { policy.delay(afterAttempt: $0, outcome: outcome) }
    }

    @Test func `an immediate retry policy retries at once up to its maximum`() {
        #expect(
            delays(.immediately(maximumRetries: 2), outcome(.badGateway)) == [
                .zero, .zero, nil, nil,
            ])
        #expect(delays(.immediately(maximumRetries: 0), outcome(nil)) == [nil, nil, nil, nil])
        #expect(delays(.immediately(maximumRetries: -1), outcome(nil)) == [nil, nil, nil, nil])
    }

    @Test func `a constant retry policy pauses equally up to its maximum`() {
        let second = Duration.seconds(1)
        #expect(
            delays(.constant(second, maximumRetries: 3), outcome(nil)) == [
                second, second, second, nil,
            ])
    }

    @Test func `an exponential retry policy pauses longer each time up to its maximum`() {
        let timer = ExponentialTimer(
            initialTime: .seconds(1), maxTime: .seconds(60), jitter: .none, growth: 2)
        #expect(
            delays(.exponential(timer, maximumRetries: 3), outcome(nil))
                == [.seconds(1), .seconds(2), .seconds(4), nil])
        let drawn = delays(.exponential(maximumRetries: 4), outcome(nil)).compactMap { $0 }
        #expect(drawn.count == 4)
        #expect(zip(drawn, [200, 400, 800, 1_600]).allSatisfy { $0 <= ms($1) })
    }

    @Test func `built-in retry policies stop at outcomes that are not transient`() {
        var outcome = outcome(.notFound)
        outcome.isTransient = false
        #expect(delays(.immediately(maximumRetries: 2), outcome).allSatisfy { $0 == nil })
        #expect(delays(.exponential(maximumRetries: 2), outcome).allSatisfy { $0 == nil })
        #expect(delays(.constant(.zero, maximumRetries: 2), outcome).allSatisfy { $0 == nil })
    }

    @Test func `the rate limit retry policy waits until the time that the server names`() {
        func delay(_ outcome: AttemptOutcome, n: Int = 1) -> Duration? {
            let policy: some RetryPolicy = .rateLimitHeader(maximumRetries: 2)
            return policy.delay(afterAttempt: n, outcome: outcome)
        }
        let reset: HTTPHeaders = ["x-rate-limit-reset": "1000030"]
        #expect(delay(outcome(.tooManyRequests, reset)) == .seconds(30))
        #expect(delay(outcome(.tooManyRequests, reset), n: 3) == nil)
        #expect(delay(outcome(.tooManyRequests, ["x-rate-limit-reset": "999"])) == .zero)
        #expect(delay(outcome(.tooManyRequests, ["x-rate-limit-reset": "soon"])) == nil)
        #expect(delay(outcome(.tooManyRequests, retryAfter: .seconds(9))) == .seconds(9))
        #expect(delay(outcome(.tooManyRequests)) == nil)
        #expect(delay(outcome(.serviceUnavailable, retryAfter: .seconds(9))) == .seconds(9))
        #expect(delay(outcome(.serviceUnavailable, reset)) == nil)
        #expect(delay(outcome(.badGateway, reset, retryAfter: .seconds(9))) == nil)
        #expect(delay(outcome(nil)) == nil)
    }

    @Test func `a time in X-Rate-Limit-Reset beyond the longest Retry-After ends the load`() {
        let bed = TestBed(
            [.respond(status: 429, headers: ["x-rate-limit-reset": "9000000000"])],
            otherwise: .respond(status: 200)
        ) { $0.timeouts.total = nil }
        bed.loader.perform(.make { $0.retryPolicy = .rateLimitHeader(maximumRetries: 1) })
        #expect(bed.error == .status(.tooManyRequests))
        #expect(bed.starts.count == 1)
    }
}
