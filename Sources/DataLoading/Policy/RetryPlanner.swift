// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What comes after an attempt that is not the end by itself.
package enum RetryDecision: Hashable, Sendable {
    /// Another attempt after a pause; the cost is to be given back if it succeeds.
    case retry(after: Duration, cost: RetryBudget.Cost?)
    /// The attempt's outcome is the load's.
    case stop(Reason)

    /// Why there is no other attempt.
    package enum Reason: Hashable, Sendable {
        /// The table forbids it.
        case notRetryable
        /// The policy, or the lack of one, says so.
        case policy
        /// As many retries were made as there may be.
        case maximum
        /// The origin's budget is used up.
        case budget
        /// The pause would outlast the deadline.
        case deadline
        /// The server asks for a longer pause than the service grants.
        case retryAfter
    }
}

/// Decides about another attempt: table, maximum, policy, server's wish, deadline, budget.
package struct RetryPlanner: Sendable {
    private let configuration: RetryConfiguration
    private let budget: RetryBudget
    private let random: RandomSource

    package init(configuration: RetryConfiguration, budget: RetryBudget, random: RandomSource) {
        self.configuration = configuration
        self.budget = budget
        self.random = random
    }

    /// What is known about the load, besides the attempt.
    package struct Circumstances: Sendable {
        /// How many retries the load has had; for policies, the attempt is the one after these.
        package var retries: Int
        /// The request's own maximum; nil for the service's, or for the policy's when there is one.
        package var maximumRetryCount: Int?
        /// The request's policy.
        package var policy: (any RetryPolicy)?
        /// Where the attempt went, which is whose budget a retry takes from.
        package var origin: Origin
        /// The time until the deadline; nil without one.
        package var remaining: Duration?
        /// The wall time, to read dates by.
        package var date: Date
        /// Whether the attempt was not made, because another load has just found no connection.
        package var isSpared = false

        package init(
            retries: Int, request: DataLoaderRequest, origin: Origin,
            remaining: Duration?, date: Date
        ) {
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
    /// The policy is asked on the calling thread.
    package func decide(
        after finished: FinishedAttempt, _ circumstances: Circumstances
    ) -> RetryDecision {
        let classification = RetryClassification(finished)
        if classification == .never { return .stop(.notRetryable) }
        if classification == .ifAsked, circumstances.policy == nil { return .stop(.policy) }
        guard circumstances.retries < maximum(circumstances) else { return .stop(.maximum) }
        let outcome = outcome(of: finished, classification, date: circumstances.date)
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
        guard asked <= configuration.longestRetryAfter else { return .stop(.retryAfter) }
        guard max(proposal, asked) < remaining else { return .stop(.deadline) }
        let pause =
            proposal < asked
            ? spread(asked, base: timer.initialTime, below: remaining) : proposal
        // The budget bounds what servers are asked, and nobody was.
        let cost = circumstances.isSpared ? nil : cost(of: finished, classification)
        if let cost, !budget.withdraw(cost, for: circumstances.origin) { return .stop(.budget) }
        return .retry(after: pause, cost: cost)
    }

    private func maximum(_ circumstances: Circumstances) -> Int {
        if let maximum = circumstances.maximumRetryCount { return maximum }
        return circumstances.policy == nil ? configuration.maximumRetryCount : .max
    }

    /// At least what the server asks for, and up to a tenth more, so that not all come at once.
    private func spread(_ asked: Duration, base: Duration, below remaining: Duration) -> Duration {
        let most = min(asked + max(asked / 10, base), configuration.longestRetryAfter, remaining)
        let room = max(0, (most - asked).wholeNanoseconds)
        return asked
            + .nanoseconds(random.withGenerator { Int64.random(in: 0...room, using: &$0) })
    }

    /// A response that is a success costs nothing: asking again is the user's plan, not an outage.
    private func cost(
        of finished: FinishedAttempt, _ classification: RetryClassification
    ) -> RetryBudget.Cost? {
        if case .response(let head) = finished.end, head.status.isSuccess { return nil }
        return classification == .throttled ? .throttled : .transient
    }

    private func outcome(
        of finished: FinishedAttempt, _ classification: RetryClassification, date: Date
    ) -> AttemptOutcome {
        var outcome: AttemptOutcome
        switch finished.end {
        case .response(let head):
            outcome = AttemptOutcome(
                status: head.status, headers: head.headers,
                retryAfter: RetryAfter.delay(in: head.headers, date: date))
        case .failure(let error, _):
            outcome = AttemptOutcome(error: error)
        }
        outcome.isTransient = classification != .ifAsked
        outcome.random = random
        outcome.date = date
        return outcome
    }
}
