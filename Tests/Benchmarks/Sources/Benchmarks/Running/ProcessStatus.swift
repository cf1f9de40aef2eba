// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the kernel reports about this process.
enum ProcessStatus {
    /// The resident memory.
    static var residentBytes: Int { number("VmRSS:") * 1_024 }
    /// The number of threads.
    static var threads: Int { number("Threads:") }

    private static func number(_ name: String) -> Int {
        let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
        let value = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
        return value.flatMap { Int($0) } ?? 0
    }
}
