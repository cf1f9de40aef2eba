// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// The sums of some loads' outcomes and metrics.
struct LoadCounts: Hashable, Sendable {
    var loads = 0
    var succeeded = 0
    var cancelled = 0
    /// How many loads failed for which reason.
    var failures: [String: Int] = [:]
    /// How many requests were sent: retries, redirects and renewed tokens included.
    var attempts = 0
    var retries = 0
    /// How many times a load was sent again with a new token.
    var reauthorised = 0
    var chunks = 0
    var bytesDown: Int64 = 0
    var bytesUp: Int64 = 0
    /// Time waited for the rate, for `Retry-After` and for a connection slot.
    var slotTime = Duration.zero
    /// Time waited between attempts.
    var pauseTime = Duration.zero
    /// Time waited for a token.
    var tokenTime = Duration.zero

    var failed: Int { failures.values.reduce(0, +) }

    /// What a load waited on average, for all three reasons.
    var meanWait: Duration { mean(slotTime + pauseTime + tokenTime) }

    /// A sum divided by the number of loads.
    func mean(_ sum: Duration) -> Duration {
        loads == 0 ? .zero : sum / loads
    }

    mutating func add(_ response: DataLoaderResponse, down: Int64, up: Int64) {
        let metrics = response.metrics
        loads += 1
        if let error = response.error {
            switch error.kind {
            case .cancelled, .reset: cancelled += 1
            default: failures[error.name, default: 0] += 1
            }
        } else {
            succeeded += 1
        }
        attempts += metrics.attempts
        retries += metrics.retries
        let others = metrics.retries + metrics.redirects + metrics.replacedConnections
        reauthorised += max(0, metrics.attempts - 1 - others)
        bytesDown += down
        bytesUp += up
        slotTime += metrics.admissionTime
        pauseTime += metrics.backOffTime
        tokenTime += metrics.authorisationTime
    }
}
