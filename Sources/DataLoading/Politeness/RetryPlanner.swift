// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Foundation

/// The decision after an attempt: retry or stop.
enum RetryDecision: Hashable, Sendable {
    /// Another attempt after a pause; the cost is returned if it succeeds.
    case retry(after: Duration, cost: RetryCost?)
    /// The attempt's outcome is the load's.
    case stop(Reason)

    /// The reason for making no other attempt.
    enum Reason: Hashable, Sendable {
        /// The classification forbids it.
        case notRetryable
        /// The policy stops, or there is none for such an outcome.
        case policy
        /// The maximum number of retries was made.
        case maximum
        /// The origin's budget has too few tokens.
        case budget
        /// The pause would end after the deadline.
        case deadline
        /// The server asks for a longer pause than the service allows.
        case retryAfter
    }
}

/// Decides on a retry from classification, maximum, policy, `Retry-After`, deadline and budget.
struct RetryPlanner: Sendable {
    private let configuration: RetryConfiguration
    private let originHealth: OriginHealth
    private let random: RandomSource

    init(
        configuration: RetryConfiguration, originHealth: OriginHealth, random: RandomSource
    ) {
        self.configuration = configuration
        self.originHealth = originHealth
        self.random = random
    }

    /// The facts about the load that are not about the attempt.
    struct Circumstances: Sendable {
        /// The request as it was performed.
        let request: DataLoaderRequest
        /// The number of retries made so far; a policy is asked about attempt `retries + 1`.
        var retries: Int
        /// The request's own maximum; nil for the service's, or for none when there is a policy.
        var maximumRetryCount: Int?
        /// The request's policy.
        var policy: (any RetryPolicy)?
        /// The origin the attempt was sent to; a retry takes tokens from its budget.
        var origin: Origin
        /// The time until the deadline; nil without one.
        var remaining: Duration?
        /// The wall time, for reading dates.
        var date: Date
        /// Whether the attempt was skipped because another load has just failed to connect.
        var isSpared = false
        /// Whether the attempt brought at least 64 KiB of a body, which a range continues.
        var hasProgressed = false

        init(
            retries: Int, request: DataLoaderRequest, origin: Origin,
            remaining: Duration?, date: Date
        ) {
            self.request = request
            self.retries = retries
            maximumRetryCount = request.maximumRetryCount
            policy = request.retryPolicy
            self.origin = origin
            self.remaining = remaining
            self.date = date
        }
    }

    /// Decides, and takes the retry's cost from the budget.
    ///
    /// Calls the policy on the calling thread.
    func decide(
        after finished: FinishedAttempt, _ circumstances: Circumstances
    ) -> RetryDecision {
        let classification = RetryClassification(finished)
        if classification == .never { return .stop(.notRetryable) }
        if classification == .ifAsked, circumstances.policy == nil { return .stop(.policy) }
        guard circumstances.retries < maximum(circumstances) else { return .stop(.maximum) }
        let outcome = outcome(of: finished, classification, circumstances)
        let attempt = circumstances.retries + 1
        let timer =
            classification == .throttled ? configuration.throttledTimer : configuration.timer
        let proposal: Duration
        if let policy = circumstances.policy {
            guard let delay = policy.delay(afterAttempt: attempt, outcome: outcome)
            else { return .stop(.policy) }
            proposal = max(.zero, delay)
        } else {
            proposal = random.withGenerator {
                timer.pause(beforeRetry: attempt, using: &$0)
            }
        }
        let remaining = circumstances.remaining ?? .nanoseconds(Int64.max)
        let asked = outcome.retryAfter ?? .zero
        let isNamed = (circumstances.policy as? BuiltInRetryPolicy)?.isNamedByServer == true
        guard max(asked, isNamed ? proposal : .zero) <= configuration.maxRetryAfter else {
            return .stop(.retryAfter)
        }
        guard max(proposal, asked) < remaining else { return .stop(.deadline) }
        let pause =
            proposal < asked
            ? spread(asked, base: timer.initialTime, below: remaining) : proposal
        // The budget bounds attempts that bring nothing. A skipped attempt reached no server, and
        // one that brought a part of the body is not repeated: its retry requests only the rest.
        let isFree = circumstances.isSpared || circumstances.hasProgressed
        let cost = isFree ? nil : cost(of: finished, classification)
        if let cost, !originHealth.withdraw(cost, for: circumstances.origin) {
            return .stop(.budget)
        }
        return .retry(after: pause, cost: cost)
    }

    private func maximum(_ circumstances: Circumstances) -> Int {
        if let maximum = circumstances.maximumRetryCount { return maximum }
        return circumstances.policy == nil ? configuration.maximumRetryCount : .max
    }

    /// Draws a pause from the server's delay upwards, so that loads do not return all at once.
    ///
    /// The pause is longer by at most a tenth, or by the timer's initial time if that is more,
    /// within the longest `Retry-After` and the deadline.
    private func spread(_ asked: Duration, base: Duration, below remaining: Duration) -> Duration {
        let most = min(asked + max(asked / 10, base), configuration.maxRetryAfter, remaining)
        let room = max(0, (most - asked).wholeNanoseconds)
        return asked
            + .nanoseconds(random.withGenerator { Int64.random(in: 0...room, using: &$0) })
    }

    /// The cost of a retry; nil after a success, which only a user's policy repeats.
    private func cost(
        of finished: FinishedAttempt, _ classification: RetryClassification
    ) -> RetryCost? {
        if case .response(let head) = finished.end, head.status.isSuccess { return nil }
        return classification == .throttled ? .throttled : .transient
    }

    private func outcome(
        of finished: FinishedAttempt, _ classification: RetryClassification,
        _ circumstances: Circumstances
    ) -> AttemptOutcome {
        let (request, date) = (circumstances.request, circumstances.date)
        var outcome: AttemptOutcome
        switch finished.end {
        case .response(let head):
            outcome = AttemptOutcome(
                of: request, status: head.status, headers: head.headers,
                retryAfter: RetryAfter.delay(inArriving: head.headers, date: date))
        case .failure(let error, _):
            outcome = AttemptOutcome(of: request, error: error)
        }
        outcome.isTransient = classification != .ifAsked
        outcome.random = random
        outcome.date = date
        return outcome
    }
}
