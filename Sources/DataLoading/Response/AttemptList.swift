// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The attempts of a load that ended, in that order.
///
/// Most loads have one, with a response: it costs no allocation, because the sums of the load are
/// its own numbers.
enum AttemptList: Hashable, Sendable {
    case none
    /// One that got a whole response.
    case answered(HTTPStatus?, nanoseconds: Int64)
    case several([AttemptMetrics])

    /// A load may wait for days for a connection, and try again and again.
    static let limit = 32
}

extension LoadMetrics {
    /// Each attempt of the load that had ended with it, in that order; the newest 32.
    ///
    /// Those at further addresses are here too, unlike in ``attempts``. One that was still open when
    /// the load was cancelled or timed out is only in what observers are told of. There is none for
    /// a stored response. A load that went through interceptors has those of the loads inside.
    public var attemptMetrics: [AttemptMetrics] {
        switch ended {
        case .none: return []
        case .several(let attempts): return attempts
        case .answered(let status, let nanoseconds):
            var attempt = AttemptMetrics()
            attempt.address = addresses.first ?? remoteAddress
            attempt.status = status
            attempt.duration = .nanoseconds(nanoseconds)
            attempt.connectTime = reusedConnection ? nil : connectTime
            attempt.tlsTime = tlsTime == .zero ? nil : tlsTime
            attempt.firstByteTime = firstByteTime
            attempt.reusedConnection = reusedConnection
            attempt.httpVersion = httpVersion
            attempt.headBytesSent = headBytesSent
            attempt.bodyBytesSent = bodyBytesSent
            attempt.headBytesReceived = headBytesReceived
            attempt.bodyBytesReceived = bodyBytesReceived
            return [attempt]
        }
    }

    /// Adds a whole response to the list, before its numbers are added to the sums; `made` makes its
    /// metrics, which the first one does not need.
    @inline(__always) mutating func listAnswer(
        _ status: HTTPStatus?, nanoseconds: Int64, _ made: () -> AttemptMetrics
    ) {
        if case .none = ended {
            ended = .answered(status, nanoseconds: nanoseconds)
        } else {
            list([made()])
        }
    }

    /// Adds attempts to the list, before their numbers are added to the sums.
    mutating func list(_ attempts: [AttemptMetrics]) {
        guard !attempts.isEmpty else { return }
        ended = .several((attemptMetrics + attempts).suffix(AttemptList.limit))
    }
}
