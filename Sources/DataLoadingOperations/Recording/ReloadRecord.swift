// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// When the configuration was last read again, and whether that succeeded.
final class ReloadRecord: Sendable {
    private struct State {
        var isSuccess = true
        var last: Date
    }

    private let timekeeper: any Timekeeper
    private let state: Locked<State>

    /// The start counts as a success.
    init(_ timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        state = Locked(State(last: timekeeper.date))
    }

    func note(isSuccess: Bool) {
        let now = timekeeper.date
        state.withLock { state in
            state.isSuccess = isSuccess
            if isSuccess { state.last = now }
        }
    }

    var now: (isSuccess: Bool, last: Date) { state.withLock { ($0.isSuccess, $0.last) } }
}

extension MetricRegistry {
    /// Adds the last reload.
    func observe(_ reloads: ReloadRecord) {
        add { visitor in
            let (isSuccess, last) = reloads.now
            visitor.begin(.reloadSuccess)
            visitor.add(.whole(isSuccess ? 1 : 0), NoLabels())
            visitor.begin(.reloadTime)
            visitor.add(.real(last.timeIntervalSince1970), NoLabels())
        }
    }
}
