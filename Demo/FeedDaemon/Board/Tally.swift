// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// What one feature's loads came to.
struct Tally: Hashable, Sendable {
    var loads = 0
    var succeeded = 0
    var failed = 0
    var cancelled = 0
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

    /// All the time waited before something could be sent.
    var waitTime: Duration { slotTime + pauseTime + tokenTime }

    mutating func add(_ response: DataLoaderResponse, down: Int64, up: Int64) {
        let metrics = response.metrics
        loads += 1
        switch response.error {
        case nil: succeeded += 1
        case .cancelled: cancelled += 1
        default: failed += 1
        }
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
