// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Keeps some descriptors of the process free.
///
/// On Linux, while work waits in a queue, Dispatch opens a file of `/proc` for each of its threads once a
/// second, and ends the process when it cannot (`_dispatch_workq_count_runnable_workers`; seen with Swift
/// 6.3.1). What a load would open and keep is therefore refused before the process has none left. What is
/// open for a moment only may use those that are kept.
package enum DescriptorReserve {
    /// The number of descriptors that are kept free; a quarter where the process may have fewer than 128.
    static let count = 32

    /// Whether at least as many descriptors are free as are kept.
    ///
    /// A caller opens one then, and so may others that ask at the same moment.
    package static var hasRoom: Bool {
        let limit = limit
        let kept = min(count, limit / 4)
        // The system gives the lowest number that is free, so that the highest ones mostly are. Where a
        // busier time has left others, a larger part is looked at.
        return hasFree(kept, among: 64, below: limit) || hasFree(kept, among: 4_096, below: limit)
    }

    /// The number of descriptors that the process may have.
    static var limit: Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return Int(Int32.max) }
        return Int(Int32(clamping: limit.rlim_cur))
    }

    /// Whether so many of the highest numbers are free; `poll` tells which are open.
    private static func hasFree(_ wanted: Int, among window: Int, below limit: Int) -> Bool {
        // More than the limit are refused.
        let window = min(window, limit)
        return withUnsafeTemporaryAllocation(of: pollfd.self, capacity: window) { numbers in
            for index in 0..<window {
                numbers.initializeElement(
                    at: index,
                    to: pollfd(fd: Int32(limit - window + index), events: 0, revents: 0))
            }
            guard poll(numbers.baseAddress, nfds_t(window), 0) >= 0 else { return false }
            return numbers.count { $0.revents & Int16(POLLNVAL) != 0 } >= wanted
        }
    }
}
