// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What was set for a key: nothing to hold back, nothing to let through, or a rate.
enum RateRule: Sendable {
    case off
    case paused
    case limited(GCRA.Rate, requestsPerSecond: Double)

    /// Reads a setting: nil is off and zero pauses; what is no rate at all answers nil.
    init?(requestsPerSecond: Double?, burst: Int) {
        guard let requestsPerSecond else {
            self = .off
            return
        }
        if requestsPerSecond == 0 {
            self = .paused
            return
        }
        let rate = GCRA.Rate(requestsPerSecond: requestsPerSecond, burst: burst)
        guard let rate else { return nil }
        self = .limited(rate, requestsPerSecond: requestsPerSecond)
    }

    /// The setting as it was made.
    var requestsPerSecond: Double? {
        switch self {
        case .off: nil
        case .paused: 0
        case .limited(_, let requestsPerSecond): requestsPerSecond
        }
    }
}
