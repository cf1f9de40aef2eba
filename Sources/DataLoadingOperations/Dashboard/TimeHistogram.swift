// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Counts durations in classes that are each a fifth wider than the one before, from 0.1 ms to five
/// minutes.
struct TimeHistogram: Sendable {
    /// Four classes for each doubling.
    private static let classes = 4
    /// The first class ends at 2^7 microseconds, the last one begins at 2^28.
    private static let (lowest, highest) = (7, 28)
    private static let count = (highest - lowest) * classes + 2

    private var counts = [UInt32](repeating: 0, count: count)

    mutating func add(_ duration: Duration) {
        let index = Self.index(of: max(0, duration.wholeNanoseconds) / 1_000)
        if counts[index] < .max { counts[index] += 1 }
    }

    mutating func add(_ other: TimeHistogram) {
        for index in counts.indices {
            let (sum, overflow) = counts[index].addingReportingOverflow(other.counts[index])
            counts[index] = overflow ? .max : sum
        }
    }

    /// The duration that a share of those counted does not exceed, within a tenth; nil for none.
    func quantile(_ share: Double) -> Duration? {
        let total = counts.reduce(Int64(0)) { $0 + Int64($1) }
        guard total > 0 else { return nil }
        let rank = max(1, Int64((Double(total) * share).rounded(.up)))
        var seen: Int64 = 0
        for (index, count) in counts.enumerated() {
            seen += Int64(count)
            if seen >= rank { return .microseconds(Self.middle(of: index)) }
        }
        return nil
    }

    private static func index(of microseconds: Int64) -> Int {
        guard microseconds >= 1 << lowest else { return 0 }
        guard microseconds < 1 << highest else { return count - 1 }
        let exponent = 63 - microseconds.leadingZeroBitCount
        // The two bits after the highest one.
        let part = Int(microseconds >> (exponent - 2) & 3)
        return (exponent - lowest) * classes + part + 1
    }

    private static func middle(of index: Int) -> Int64 {
        guard index > 0 else { return 1 << (lowest - 1) }
        guard index < count - 1 else { return 1 << highest }
        let (octave, part) = (index - 1).quotientAndRemainder(dividingBy: classes)
        let width = Int64(1) << (octave + lowest - 2)
        return Int64(classes + part) * width + width / 2
    }
}
