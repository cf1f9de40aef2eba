// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// What one feature's loads came to.
struct Tally: Hashable, Sendable {
    var loads = 0
    var succeeded = 0
    var failed = 0
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

    /// What a load waited on average, whatever for.
    var meanWait: Duration { mean(slotTime + pauseTime + tokenTime) }

    /// The part of a sum that falls to one load.
    func mean(_ sum: Duration) -> Duration {
        loads == 0 ? .zero : sum / loads
    }

    mutating func add(_ response: DataLoaderResponse, down: Int64, up: Int64) {
        let metrics = response.metrics
        loads += 1
        switch response.error {
        case nil:
            succeeded += 1
        case .cancelled, .reset:
            cancelled += 1
        case let error?:
            failed += 1
            failures[error.kind, default: 0] += 1
        }
        attempts += metrics.attempts
        retries += metrics.retries
        // Whatever was sent and is neither the first time, nor a retry, nor a redirect.
        reauthorised += max(0, metrics.attempts - 1 - metrics.retries - metrics.redirects)
        bytesDown += down
        bytesUp += up
        slotTime += metrics.admissionTime
        pauseTime += metrics.backOffTime
        tokenTime += metrics.authorisationTime
    }

    static func + (left: Tally, right: Tally) -> Tally {
        var sum = left
        sum.loads += right.loads
        sum.succeeded += right.succeeded
        sum.failed += right.failed
        sum.cancelled += right.cancelled
        sum.failures.merge(right.failures, uniquingKeysWith: +)
        sum.attempts += right.attempts
        sum.retries += right.retries
        sum.reauthorised += right.reauthorised
        sum.chunks += right.chunks
        sum.bytesDown += right.bytesDown
        sum.bytesUp += right.bytesUp
        sum.slotTime += right.slotTime
        sum.pauseTime += right.pauseTime
        sum.tokenTime += right.tokenTime
        return sum
    }
}
