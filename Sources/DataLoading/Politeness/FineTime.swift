// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A time in units of 2⁻³² ns, so that a rate of three a second adds up without drift.
///
/// Arithmetic saturates like that of `Instant`.
struct FineTime: Hashable, Comparable, Sendable {
    private var nanoseconds: Int64
    private var fraction: UInt32

    /// Earlier than any instant of a clock.
    static let distantPast = FineTime(nanoseconds: .min, fraction: 0)

    init(_ instant: Instant) {
        self.init(nanoseconds: instant.nanoseconds, fraction: 0)
    }

    /// Makes a span of `seconds`, which must not be negative; above 292 years it is 292 years.
    init(seconds: Double) {
        let exact = seconds * 1e9
        let whole = exact.rounded(.down)
        guard whole < 0x1p63 else {
            self.init(nanoseconds: .max, fraction: 0)
            return
        }
        self.init(nanoseconds: Int64(whole), fraction: UInt32((exact - whole) * 0x1p32))
    }

    private init(nanoseconds: Int64, fraction: UInt32) {
        self.nanoseconds = nanoseconds
        self.fraction = fraction
    }

    /// The first instant that is not before this time.
    var roundedUp: Instant {
        let instant = Instant(nanoseconds: nanoseconds)
        return fraction == 0 ? instant : instant + .nanoseconds(1)
    }

    /// The span times `count`; a negative count gives zero.
    func multiplied(by count: Int) -> FineTime {
        let factor = UInt32(clamping: count)
        let (whole, overflow) = nanoseconds.multipliedReportingOverflow(by: Int64(factor))
        let parts = UInt64(fraction) * UInt64(factor)
        let (sum, sumOverflow) = whole.addingReportingOverflow(Int64(parts >> 32))
        guard !overflow, !sumOverflow else { return FineTime(nanoseconds: .max, fraction: 0) }
        return FineTime(nanoseconds: sum, fraction: UInt32(truncatingIfNeeded: parts))
    }

    static func < (left: FineTime, right: FineTime) -> Bool {
        left.nanoseconds == right.nanoseconds
            ? left.fraction < right.fraction : left.nanoseconds < right.nanoseconds
    }

    /// Adds a span to a time or to a span; the span must not be negative.
    static func + (left: FineTime, right: FineTime) -> FineTime {
        let (fraction, carry) = left.fraction.addingReportingOverflow(right.fraction)
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
        let (carried, carryOverflow) = sum.addingReportingOverflow(carry ? 1 : 0)
        guard !overflow, !carryOverflow else { return FineTime(nanoseconds: .max, fraction: 0) }
        return FineTime(nanoseconds: carried, fraction: fraction)
    }

    /// Subtracts a span, which must not be negative.
    static func - (left: FineTime, right: FineTime) -> FineTime {
        let (fraction, borrow) = left.fraction.subtractingReportingOverflow(right.fraction)
        let (difference, overflow) =
            left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        let (lent, lentOverflow) = difference.subtractingReportingOverflow(borrow ? 1 : 0)
        guard !overflow, !lentOverflow else { return .distantPast }
        return FineTime(nanoseconds: lent, fraction: fraction)
    }
}
