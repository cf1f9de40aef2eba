// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Keeps the last descriptors of the process free.
///
/// On Linux, while work waits in a queue, Dispatch opens a file of `/proc` for each of its threads once a
/// second, and ends the process when it cannot (`_dispatch_workq_count_runnable_workers`; seen with Swift
/// 6.3.1). What a load opens is therefore refused before the process has none left.
package enum DescriptorReserve {
    /// The number of descriptors that are kept free; an eighth where the process may have fewer than 128.
    static let maximumCount: UInt64 = 16

    /// Returns a descriptor that was just opened, unless it is one of the last; then it is closed, and
    /// the result is -1 and `errno` is `EMFILE`, as when there are none.
    ///
    /// The system gives the lowest number that is free, so that all below it are in use.
    package static func spare(_ descriptor: Int32) -> Int32 {
        guard descriptor >= 0, UInt64(descriptor) >= end else { return descriptor }
        _ = close(descriptor)
        errno = EMFILE
        return -1
    }

    /// Whether a further descriptor would not be one of the last, as found by a copy of another one.
    package static func hasRoom(beside descriptor: Int32) -> Bool {
        let copy = spare(fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
        guard copy >= 0 else { return false }
        _ = close(copy)
        return true
    }

    /// The number from which on descriptors are kept free.
    static var end: UInt64 {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return .max }
        let count = UInt64(limit.rlim_cur)
        return count - min(maximumCount, count / 8)
    }
}
