// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How many cores the control groups of this process let it use, in version 2 of their hierarchy.
///
/// https://docs.kernel.org/admin-guide/cgroup-v2.html: `cpu.max` has the time that a group may use
/// and the period, in microseconds, or "max" for the time. The group inside and those around it
/// limit the process.
enum CoreQuota {
    /// The least of the limits; nil where there is none, or where it cannot be read.
    static let ofProcess = find { path in
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    static func find(read: (String) -> String?) -> Double? {
        // Version 2 has the line "0::/group/inside".
        let line = read("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::/") }
        guard let line else { return nil }
        var group = line.dropFirst(3).split(separator: "/")
        var least: Double?
        while true {
            let path = (["/sys/fs/cgroup"] + group.map(String.init) + ["cpu.max"])
            if let cores = read(path.joined(separator: "/")).flatMap(cores) {
                least = min(least ?? .infinity, cores)
            }
            guard group.popLast() != nil else { return least }
        }
    }

    private static func cores(_ text: String) -> Double? {
        let parts = text.split { $0 == " " || $0 == "\n" }.map { Double($0) }
        guard parts.count == 2, let time = parts[0], let period = parts[1], time > 0, period > 0
        else { return nil }
        return time / period
    }
}
