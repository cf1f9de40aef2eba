// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The texts of the files under /proc from which the figures of a process are read (proc(5)).
struct ProcessFiles: Sendable {
    /// /proc/self/stat.
    let process: String
    /// /proc/stat.
    let system: String
    /// The number of entries in /proc/self/fd.
    let descriptors: Int64
    /// The soft limit of descriptors; nil for none.
    let maxDescriptors: Int64?
    let ticksPerSecond: Double
    let pageSize: Int64

    /// The figures; nil where a file has not the form that the kernel documents.
    var usage: ProcessUsage? {
        // The name of the program may contain anything, brackets included, and ends with the last.
        guard let end = process.lastIndex(of: ")"), ticksPerSecond > 0 else { return nil }
        // The first field after the name is the third.
        let fields = process[end...].dropFirst().split(separator: " ").map { Int64($0) }
        func field(_ number: Int) -> Int64? {
            fields.indices.contains(number - 3) ? fields[number - 3] : nil
        }
        guard let user = field(14), let kernel = field(15), let start = field(22),
            let pages = field(24), let systemStart
        else { return nil }
        let memory = pages.multipliedReportingOverflow(by: pageSize)
        return ProcessUsage(
            processorTime: (Double(user) + Double(kernel)) / ticksPerSecond,
            residentMemory: memory.overflow ? .max : memory.partialValue,
            startTime: systemStart + Double(start) / ticksPerSecond,
            openDescriptors: descriptors, maxDescriptors: maxDescriptors)
    }

    /// The start of the system in seconds since the Unix epoch.
    private var systemStart: Double? {
        let line = system.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst(6)) }
    }
}
