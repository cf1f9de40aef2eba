// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The rule set for a key: no limit, paused, or a rate.
enum RateRule: Sendable {
    case off
    case paused
    case limited(GCRA.Rate, requestsPerSecond: Double, burst: Int)

    /// Makes a rule: nil means no limit, zero pauses.
    init(requestsPerSecond: Double?, burst: Int) throws(DataLoaderError) {
        guard burst >= 1 else { throw .malformedBurst }
        guard let requestsPerSecond else {
            self = .off
            return
        }
        if requestsPerSecond == 0 {
            self = .paused
            return
        }
        let rate = GCRA.Rate(requestsPerSecond: requestsPerSecond, burst: burst)
        guard let rate else { throw .malformedRate }
        self = .limited(rate, requestsPerSecond: requestsPerSecond, burst: burst)
    }

    /// The rate of a limit; nil for another rule.
    var limit: GCRA.Rate? {
        if case .limited(let rate, _, _) = self { rate } else { nil }
    }

    /// How many requests may start at once; nil without a limit.
    var burst: Int? {
        if case .limited(_, _, let burst) = self { burst } else { nil }
    }

    /// The value that was set.
    var requestsPerSecond: Double? {
        switch self {
        case .off: nil
        case .paused: 0
        case .limited(_, let requestsPerSecond, _): requestsPerSecond
        }
    }
}
