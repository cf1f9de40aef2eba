// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
package import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A thread that calls libcurl, and so must be stopped before exit() shuts OpenSSL down.
package protocol LibcurlThread: AnyObject, Sendable {
    /// Whether exit() has to stop it: not in a forked child, which has no copy of it, and not on the
    /// thread itself.
    var mustStopForExit: Bool { get }
    /// Tells it to leave libcurl; returns at once.
    func stopForExit()
    /// Waits until it has left libcurl.
    func waitForExit(until deadline: DispatchTime)
}

/// The running threads of the process that call libcurl.
package enum LoopRegistry {
    private static let threads = Locked<[any LibcurlThread]>([])
    private static let isExiting = Atomic<Bool>(false)

    /// Adds a thread before its first call of libcurl.
    package static func add(_ thread: any LibcurlThread) {
        threads.withLock { $0.append(thread) }
    }

    /// Removes a thread that has ended.
    package static func remove(_ thread: any LibcurlThread) {
        threads.withLock { threads in threads.removeAll { $0 === thread } }
    }

    /// Does not return once exit() has begun.
    ///
    /// No thread may end while exit() shuts OpenSSL down, which frees what it keeps for the thread.
    /// One that has looked just before may end all the same.
    static func stayDuringExit() {
        while isExiting.load(ordering: .sequentiallyConsistent) { pause() }
    }

    /// Stops every thread; called during exit().
    static func stopAllForExit() {
        isExiting.store(true, ordering: .sequentiallyConsistent)
        // A copy, because a thread that ends is removed meanwhile.
        let running = threads.withLock { $0 }.filter(\.mustStopForExit)
        // This thread waits for those that are ending already too.
        for thread in running { thread.stopForExit() }
        // A sink that blocks in its callback must not delay the exit for ever.
        let deadline = DispatchTime.now() + .seconds(2)
        for thread in running { thread.waitForExit(until: deadline) }
    }
}
