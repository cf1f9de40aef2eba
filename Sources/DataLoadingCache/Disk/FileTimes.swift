// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension timespec {
    /// A time in nanoseconds since 1970.
    init(nanoseconds: Int64) {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(tv_sec: .init(seconds), tv_nsec: .init(max(rest, 0)))
    }

    /// The nanoseconds since 1970; a time that no clock has is the last one or the first one.
    var nanoseconds: Int64 {
        let (scaled, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return tv_sec < 0 ? .min : .max }
        let (sum, isTooLarge) = scaled.addingReportingOverflow(Int64(tv_nsec))
        return isTooLarge ? .max : sum
    }
}

extension FileMark {
    init(_ name: EntryName, _ status: stat) {
        self.init(
            name: name, node: UInt64(truncatingIfNeeded: status.st_ino),
            length: Int64(status.st_size), seconds: Int64(status.writtenAt.tv_sec),
            nanoseconds: Int64(status.writtenAt.tv_nsec))
    }
}
