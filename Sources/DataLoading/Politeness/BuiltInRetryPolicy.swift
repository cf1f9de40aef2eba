// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// A retry policy of the library, such as `.constant(.seconds(1), maximumRetries: 3)`.
///
/// With a negative pause or number of retries, or a malformed timer, the load ends
/// `.invalidRequest(.setting(name: "retryPolicy"))`.
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

    /// Returns the pause while retries are left and the outcome is transient.
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

    /// Whether its pauses are those that servers name.
    var isNamedByServer: Bool { if case .named = pause { true } else { false } }

    /// Whether all retries that the policy allows were made before an attempt.
    func isUsedUp(afterAttempt n: Int) -> Bool { n > maximumRetries }

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

extension BuiltInRetryPolicy {
    /// Whether a pause or the number of retries is out of its range.
    var isMalformed: Bool {
        guard maximumRetries >= 0 else { return true }
        return switch pause {
        case .none, .named: false
        case .constant(let pause): pause < .zero
        case .growing(let timer): timer.malformedParameter != nil
        }
    }
}

extension RetryPolicy where Self == BuiltInRetryPolicy {
    /// Retries transient outcomes without a pause, at most `maximumRetries` times.
    public static func immediately(maximumRetries: Int) -> Self {
        Self(.none, maximumRetries)
    }

    /// Retries transient outcomes after a fixed pause, at most `maximumRetries` times.
    public static func constant(_ pause: Duration, maximumRetries: Int) -> Self {
        Self(.constant(pause), maximumRetries)
    }

    /// Retries transient outcomes after growing pauses, at most `maximumRetries` times.
    ///
    /// The n-th pause is drawn around min(maxTime, initialTime · growth^(n−1)) of the timer. The
    /// default timer draws evenly between 0 and 0.2 s, 0.4 s, 0.8 s … 20 s.
    public static func exponential(
        _ timer: ExponentialTimer = RetryConfiguration().timer, maximumRetries: Int
    ) -> Self {
        Self(.growing(timer), maximumRetries)
    }

    /// Retries a 429 or 503 at the time that the response names, at most `maximumRetries` times.
    ///
    /// For 429 the time is in `X-Rate-Limit-Reset` or `X-RateLimit-Reset` (seconds since 1970),
    /// else in `Retry-After`; for 503 it is in `Retry-After`. A time in the past means at once.
    /// Without a time, and after any other outcome, the policy stops. A time that is further away than
    /// `RetryConfiguration.maxRetryAfter` ends the load, so that a server cannot hold it.
    public static func rateLimitHeader(maximumRetries: Int) -> Self {
        Self(.named, maximumRetries)
    }
}
