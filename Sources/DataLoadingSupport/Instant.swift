// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A point on a service's monotonic clock; only differences have a meaning.
///
/// Arithmetic saturates, so a hostile delay cannot overflow: `Int64` nanoseconds span 292 years.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Later than any instant of a clock.
    package static let distantFuture = Instant(nanoseconds: .max)

    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    package static func + (left: Instant, right: Duration) -> Instant {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.wholeNanoseconds)
        guard overflow else { return Instant(nanoseconds: sum) }
        return Instant(nanoseconds: right < .zero ? .min : .max)
    }

    package static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) =
            left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        guard overflow else { return .nanoseconds(difference) }
        return .nanoseconds(left < right ? Int64.min : Int64.max)
    }
}

extension Instant {
    /// The nanoseconds since another instant, saturated: arithmetic of `Duration` takes 128 bits.
    package func nanoseconds(since other: Instant) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        guard overflow else { return difference }
        return self < other ? .min : .max
    }

    /// The instant after so many nanoseconds, saturated.
    package func advanced(byNanoseconds count: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        guard overflow else { return Instant(nanoseconds: sum) }
        return Instant(nanoseconds: count < 0 ? .min : .max)
    }
}

extension Duration {
    /// The duration in nanoseconds, saturated to the range of `Int64`.
    package var wholeNanoseconds: Int64 {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            // `components` divides 128 bits; up to nine seconds fit into 64.
            let count = attoseconds
            if let short = Int64(exactly: count) { return short / 1_000_000_000 }
            return Int64(clamping: count / 1_000_000_000)
        }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !sumOverflow else { return seconds < 0 ? .min : .max }
        return sum
    }

    /// The duration in seconds, for arithmetic that need not be exact.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// A duration from seconds; not-a-number gives zero, and more than 292 years gives 292 years.
    package static func saturating(seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        let nanoseconds = (seconds * 1e9).rounded()
        if nanoseconds >= 0x1p63 { return .nanoseconds(Int64.max) }
        if nanoseconds < -0x1p63 { return .nanoseconds(Int64.min) }
        return .nanoseconds(Int64(nanoseconds))
    }
}
