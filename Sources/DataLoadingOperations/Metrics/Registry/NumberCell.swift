// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// One series of a counter.
struct NumberCell: Sendable {
    private(set) var number: Int64 = 0

    mutating func add(_ change: Int64) {
        number.addSaturated(change)
    }
}
