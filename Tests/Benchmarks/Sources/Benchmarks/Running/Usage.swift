// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a process has used so far.
struct Usage: Sendable {
    /// User and system time, in seconds.
    let processorTime: Double
    /// The peak of its memory, in KiB.
    let peakMemory: Int

    /// The usage of this process until now.
    static var now: Usage {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return Usage(
            processorTime: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            peakMemory: ProcessStatus.peakBytes / 1_024)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) * 1e-6
    }
}
