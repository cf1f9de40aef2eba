// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the kernel reports about this process.
enum ProcessStatus {
    /// The resident memory.
    static var residentBytes: Int { number("VmRSS:") * 1_024 }
    /// The peak of the resident memory; that of `getrusage` counts the parent's too.
    static var peakBytes: Int { number("VmHWM:") * 1_024 }
    /// The number of threads.
    static var threads: Int { number("Threads:") }

    /// Lets the process open as many descriptors as it may.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Returns when the process has so many open descriptors, and throws when it does not get them.
    static func waitForDescriptors(_ count: Int) throws {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            if open >= count { return }
            usleep(10_000)
        }
        throw Complaint("\(count) connections were not opened")
    }

    /// Returns when the process hardly uses the processor, at the latest after 10 s.
    static func waitUntilQuiet() {
        let end = ContinuousClock.now + .seconds(10)
        var used = Usage.now.processorTime
        while ContinuousClock.now < end {
            usleep(200_000)
            let now = Usage.now.processorTime
            if now - used < 0.002 { return }
            used = now
        }
    }

    /// A line of a file like `/proc/self/status`.
    static func number(_ name: String, in file: String = "/proc/self/status") -> Int {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
        let value = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
        return value.flatMap { Int($0) } ?? 0
    }
}
