// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a number in decimal digits, with zeros in front up to a number of digits.
    mutating func appendDecimal(_ number: Int64, digits: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        var (divisor, length) = (UInt64(1), 1)
        while magnitude / divisor >= 10 {
            divisor *= 10
            length += 1
        }
        while length < digits {
            append(UInt8(ascii: "0"))
            length += 1
        }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude / divisor % 10))
            divisor /= 10
        }
    }
}
