// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

extension LoadFacts {
    /// Counts an attempt that has ended.
    mutating func count(
        _ report: TransportReport, of context: AttemptSink, _ status: HTTPStatus?,
        _ failure: TransportFailure?, countsConnecting: Bool, at now: Instant
    ) {
        // A stored response has asked no server.
        guard !context.isStored else {
            return count { $0.add(report, countsConnecting: countsConnecting) }
        }
        let nanoseconds = now.nanoseconds(since: context.begun)
        func made() -> AttemptMetrics {
            var attempt = AttemptMetrics(report)
            attempt.cause = context.cause
            if case .address(let configured) = context.candidate { attempt.address = configured }
            attempt.status = status
            // Only the kind: an underlying error may be a user's object, and a lock is held.
            attempt.failure = failure.map { DataLoaderError($0.error.kind) }
            attempt.duration = .nanoseconds(nanoseconds)
            return attempt
        }
        count { metrics in
            if failure == nil {
                metrics.listAnswer(status, nanoseconds: nanoseconds, made)
            } else {
                metrics.list([made()])
            }
            metrics.add(report, countsConnecting: countsConnecting)
        }
    }
}
