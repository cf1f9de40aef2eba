// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTesting
import Testing

extension ManualClock {
    /// Moves on by a duration, again and again, until code that polls has ended.
    ///
    /// Alarms fire at their own instants, so that an advance can end between two polls: the next
    /// one is due only in the next advance.
    func advance(
        by duration: Duration, until poll: @escaping @Sendable () async throws -> Void
    ) async throws {
        let isOver = Locked(false)
        let polls = Task {
            defer { isOver.withLock { $0 = true } }
            try await poll()
        }
        await eventually {
            advance(by: duration)
            return isOver.withLock(\.self)
        }
        try await polls.value
    }
}
