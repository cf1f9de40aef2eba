// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Repeats a request after the statuses after which OTLP allows it, and where there was no connection
/// or it broke.
///
/// A longer `Retry-After` replaces the pause.
struct CollectorRetries: RetryPolicy {
    private static let statuses: Set<HTTPStatus> = [
        .tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]
    private let pauses = BuiltInRetryPolicy.exponential(maximumRetries: 5)

    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        guard outcome.status.map(Self.statuses.contains) ?? outcome.isTransient else { return nil }
        return pauses.delay(afterAttempt: n, outcome: outcome)
    }
}
