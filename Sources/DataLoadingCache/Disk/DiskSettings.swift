// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// What a disk store takes from outside, so that tests can replace it.
struct DiskSettings: Sendable {
    /// The number of bytes of all files from which the least used ones leave.
    var capacity: Int64
    var faults: DiskFaults?
    /// The monotonic time, for pauses after a failure.
    var now: @Sendable () -> Instant = { SystemTimekeeper().now }
    /// The time of the files, in nanoseconds since 1970.
    var fileTime: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.nanoseconds
    }
    /// Receives one line when writes begin to fail.
    var log: @Sendable (String) -> Void = { line in
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }
    /// The time in nanoseconds in which the use of a file is noted once.
    var noteInterval: Int64 = 60_000_000_000
    /// The maximum number of bytes of a body that is read at once, and kept in memory.
    var maxWholeBody = 1 << 20
    /// The maximum number of bytes of responses that wait to be written.
    var maxPending = 32 << 20
    /// How long a call may take before loads pass the disk by: a disk that is about to fail, or a
    /// server of files that cannot be reached, blocks for minutes.
    var patience = Duration.seconds(2)
    /// The maximum number of open bodies.
    var maxOpenBodies = 128
}
