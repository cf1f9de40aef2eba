// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Adds numbers that servers count and declare, without overflow.
extension Int64 {
    /// The sum, or the largest number where it would overflow.
    @inlinable public func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    /// Adds a number; the result is the largest number where it would overflow.
    @inlinable public mutating func addSaturated(_ other: Int64) {
        self = addingSaturated(other)
    }
}
