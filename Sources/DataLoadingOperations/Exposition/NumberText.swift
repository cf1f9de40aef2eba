// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension MetricNumber {
    /// The number as both formats read it.
    var text: String {
        switch self {
        case .whole(let number): String(number)
        case .real(let number) where number.isNaN: "NaN"
        case .real(let number) where number.isInfinite: number < 0 ? "-Inf" : "+Inf"
        case .real(let number): "\(number)"
        }
    }
}

extension Int64 {
    /// The seconds of so many nanoseconds, exactly, with at least one digit after the point.
    ///
    /// A whole number has one too, because a bound of `1` and one of `1.0` are different series:
    /// OpenMetrics demands the latter, and Prometheus 3 stores it.
    var secondsText: String {
        let (seconds, nanoseconds) = quotientAndRemainder(dividingBy: 1_000_000_000)
        var digits = String(nanoseconds.magnitude)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.count > 1, digits.hasSuffix("0") { digits.removeLast() }
        let sign = self < 0 ? "-" : ""
        return sign + String(seconds.magnitude) + "." + digits
    }
}
