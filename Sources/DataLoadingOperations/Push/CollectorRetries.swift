// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Repeats a request after the statuses after which OTLP allows it, and no other outcome.
///
/// A longer `Retry-After` replaces the pause.
struct CollectorRetries: RetryPolicy {
    private static let statuses: Set<HTTPStatus> = [
        .tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]
    private let pauses = BuiltInRetryPolicy.exponential(maximumRetries: 5)

    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        guard let status = outcome.status, Self.statuses.contains(status) else { return nil }
        return pauses.delay(afterAttempt: n, outcome: outcome)
    }
}
