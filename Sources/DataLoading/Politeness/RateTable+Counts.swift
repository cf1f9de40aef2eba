// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension RateTable {
    /// A key with its rule, the end of its gate while it is closed, and what it has done.
    typealias State = (key: RuleKey, rule: RateRule, gate: Instant?, counts: Counts)

    /// What a key has done since its rule was set.
    struct Counts: Sendable {
        /// The number of slots that were taken.
        var admitted: Int64 = 0
        /// How often its gate was closed.
        var closings: Int64 = 0

        static func += (left: inout Counts, right: Counts) {
            left.admitted.addSaturated(right.admitted)
            left.closings.addSaturated(right.closings)
        }
    }
}
