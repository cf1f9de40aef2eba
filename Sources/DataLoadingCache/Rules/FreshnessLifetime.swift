// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// How long a response is fresh, counted from its origin (RFC 9111 section 4.2.1).
struct FreshnessLifetime: Hashable, Sendable {
    var duration: Duration
    /// Whether the response says so itself.
    var isExplicit: Bool

    /// Works it out; `receivedAt` is the seconds from 1970 to the arrival of the response.
    init(
        _ head: ResponseHead, _ directives: CacheDirectives, receivedAt: Int64, hasQuery: Bool,
        _ heuristic: HeuristicFreshness
    ) {
        let date = head.headers.date(of: "Date", now: receivedAt) ?? receivedAt
        if let maxAge = directives.maxAge {
            self = FreshnessLifetime(maxAge, isExplicit: true)
        } else if head.headers.contains("Expires") {
            // A value that is no date is in the past (RFC 9111 section 5.3).
            let expires = head.headers.date(of: "Expires", now: receivedAt)
            let lifetime = expires.map { Self.seconds(from: date, to: $0) } ?? .zero
            self = FreshnessLifetime(lifetime, isExplicit: true)
        } else {
            let guess = Self.guess(head, directives, date, receivedAt, hasQuery, heuristic)
            self = FreshnessLifetime(guess, isExplicit: false)
        }
    }

    private init(_ duration: Duration, isExplicit: Bool) {
        self.duration = duration
        self.isExplicit = isExplicit
    }

    private static func guess(
        _ head: ResponseHead, _ directives: CacheDirectives, _ date: Int64, _ now: Int64,
        _ hasQuery: Bool, _ heuristic: HeuristicFreshness
    ) -> Duration {
        guard head.status.isHeuristicallyCacheable || directives.isPublic,
            !hasQuery || heuristic.includesQueries,
            let modified = head.headers.date(of: "Last-Modified", now: now)
        else { return .zero }
        return min(seconds(from: modified, to: date) * heuristic.fraction, heuristic.maximum)
    }

    /// The time between two dates; zero when the second one is not later.
    private static func seconds(from first: Int64, to second: Int64) -> Duration {
        let (difference, overflow) = second.subtractingReportingOverflow(first)
        guard !overflow, difference > 0 else { return .zero }
        return .seconds(difference)
    }
}
