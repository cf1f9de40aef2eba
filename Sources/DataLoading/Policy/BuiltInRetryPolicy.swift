// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// One of the policies that come with the library, such as `.constant(.seconds(1), maximumRetries: 3)`.
public struct BuiltInRetryPolicy: RetryPolicy {
    fileprivate enum Pause: Sendable {
        case none
        case constant(Duration)
        case growing(ExponentialTimer)
        case named
    }

    private let pause: Pause
    private let maximumRetries: Int

    fileprivate init(_ pause: Pause, _ maximumRetries: Int) {
        self.pause = pause
        self.maximumRetries = maximumRetries
    }

    /// Returns the pause while there are retries left and the outcome is one that usually passes.
    public func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        guard n <= maximumRetries, outcome.isTransient else { return nil }
        return switch pause {
        case .none: .zero
        case .constant(let pause): pause
        case .growing(let timer):
            outcome.random.withGenerator { timer.pause(beforeRetry: n, using: &$0) }
        case .named: Self.named(by: outcome)
        }
    }

    private static func named(by outcome: AttemptOutcome) -> Duration? {
        switch outcome.status {
        case HTTPStatus.tooManyRequests:
            RetryAfter.rateLimitReset(in: outcome.headers, date: outcome.date)
                ?? outcome.retryAfter
        case HTTPStatus.serviceUnavailable: outcome.retryAfter
        default: nil
        }
    }
}

extension RetryPolicy where Self == BuiltInRetryPolicy {
    /// Tries again at once, at most so many times, after outcomes that usually pass.
    public static func immediately(maximumRetries: Int) -> Self {
        Self(.none, maximumRetries)
    }

    /// Tries again after a pause, at most so many times, after outcomes that usually pass.
    public static func constant(_ pause: Duration, maximumRetries: Int) -> Self {
        Self(.constant(pause), maximumRetries)
    }

    /// Tries again after growing pauses, at most so many times, after outcomes that usually pass.
    ///
    /// The n-th pause is drawn around min(maxTime, initialTime · growth^(n−1)) of the timer; by
    /// default evenly between 0 and 0.2 s, 0.4 s, 0.8 s … 20 s.
    public static func exponential(
        _ timer: ExponentialTimer = RetryConfiguration().timer, maximumRetries: Int
    ) -> Self {
        Self(.growing(timer), maximumRetries)
    }

    /// Tries again at the time that a 429 or 503 names, at most so many times.
    ///
    /// For 429 that is `X-Rate-Limit-Reset` or `X-RateLimit-Reset` (seconds since 1970), else
    /// `Retry-After`; for 503 it is `Retry-After`. A time in the past means now; without a time, and
    /// after anything else, it stops.
    public static func rateLimitHeader(maximumRetries: Int) -> Self {
        Self(.named, maximumRetries)
    }
}
