// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The number of series that an instrument may still get, over all its stripes.
struct SeriesLimit: Sendable {
    private let left: Locked<Int>

    /// Leaves room for one series less: that one counts what finds no room.
    init(_ maxSeries: Int) {
        left = Locked(max(0, maxSeries - 1))
    }

    /// Takes the room of one series; false if there is none.
    ///
    /// It is asked under the lock of a stripe, and takes no lock but its own.
    func takeOne() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }
}
