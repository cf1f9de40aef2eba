// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Adds attempts to a log, which is opened after the transport that tells of them was made.
final class AttemptLog: AttemptListener {
    private let logger = Locked<AccessLogger?>(nil)

    /// Uses a log from now on.
    func use(_ logger: AccessLogger?) { self.logger.withLock { $0 = logger } }

    func attemptEnded(_ attempt: AttemptRecord) {
        logger.withLock { $0 }?.attemptEnded(attempt)
    }
}
