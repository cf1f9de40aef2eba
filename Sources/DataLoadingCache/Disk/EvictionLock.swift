// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A lock between the processes that share a directory, so that only one of them evicts; the system
/// releases it when the process ends.
///
/// Some file systems have no such locks. Two processes evict at once there, which removes more than
/// is needed; without an eviction the files would fill the disk.
struct EvictionLock {
    private let file: OpenFile?

    /// Takes the lock; nil when another process has it.
    init?(_ directory: DiskDirectory) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = openat(directory.descriptor, "lock", flags, mode_t(0o600))
        file = descriptor >= 0 ? OpenFile(descriptor, nil) : nil
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
        guard errno != EWOULDBLOCK else { return nil }
    }

    /// Releases the lock.
    ///
    /// Closing does not when the process has forked: the copy shares the lock.
    func release() {
        guard let file else { return }
        _ = flock(file.descriptor, LOCK_UN)
    }
}
