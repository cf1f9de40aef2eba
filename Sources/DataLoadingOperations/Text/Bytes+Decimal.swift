// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a number in decimal digits, with zeros in front up to a number of digits.
    mutating func appendDecimal(_ number: Int64, digits: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let start = count
        var rest = number.magnitude
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        while count - start < digits { append(UInt8(ascii: "0")) }
        self[start...].reverse()
    }
}
