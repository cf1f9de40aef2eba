// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a process has used so far.
struct Usage: Sendable {
    /// User and system time, in seconds.
    let processorTime: Double
    /// The peak of its memory, in KiB.
    let peakMemory: Int
    /// How often its threads have waited, and so been woken.
    let waits: Int

    /// The usage of this process until now.
    static var now: Usage {
        let usage = read(RUSAGE_SELF)
        return Usage(
            processorTime: processorTime(usage), peakMemory: ProcessStatus.peakBytes / 1_024,
            waits: usage.ru_nvcsw)
    }

    /// The user and system time of the children that have ended, and of theirs, in seconds.
    static var processorTimeOfChildren: Double { processorTime(read(RUSAGE_CHILDREN)) }

    private static func read(_ processes: __rusage_who) -> rusage {
        var usage = rusage()
        getrusage(processes.rawValue, &usage)
        return usage
    }

    private static func processorTime(_ usage: rusage) -> Double {
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) * 1e-6
    }
}
