// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ProcessStatus {
    /// How often each thread of this process has waited, except the one that asks.
    static func wakeUpsOfOtherThreads() throws -> [String: Int] {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        let others = threads.filter { !own.hasSuffix("/\($0)") }
        return Dictionary(
            uniqueKeysWithValues: others.map { thread in
                (thread, number("voluntary_ctxt_switches:", in: "/proc/self/task/\(thread)/status"))
            })
    }
}
