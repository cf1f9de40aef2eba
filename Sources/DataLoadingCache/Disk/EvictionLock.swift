// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A lock between the processes that share a directory, so that only one of them evicts; the system
/// releases it when the process ends.
struct EvictionLock {
    private let file: OpenFile

    /// Takes the lock; nil when another process has it, or it cannot be made.
    init?(_ directory: DiskDirectory) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = openat(directory.descriptor, "lock", flags, mode_t(0o600))
        guard descriptor >= 0 else { return nil }
        file = OpenFile(descriptor, nil)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }

    /// Releases the lock.
    ///
    /// Closing does not when the process has forked: the copy shares the lock.
    func release() {
        _ = flock(file.descriptor, LOCK_UN)
    }
}
