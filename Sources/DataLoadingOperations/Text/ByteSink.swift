// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Bytes to which more are appended.
protocol ByteSink {
    mutating func append(_ byte: UInt8)
}

extension [UInt8]: ByteSink {}

extension ByteSink {
    /// Appends a number in decimal digits, with zeros in front up to a number of digits, at most 20.
    mutating func appendDecimal(_ number: Int64, digits: Int = 1) {
        // Most numbers in a line of a log.
        if number >= 0, number < 10, digits == 1 {
            return appendDigit(UInt32(truncatingIfNeeded: number))
        }
        if number < 0 { append(UInt8(ascii: "-")) }
        if number.magnitude < 1_000, digits <= 3 {
            return appendShort(UInt32(truncatingIfNeeded: number.magnitude), digits: digits)
        }
        var rest = number.magnitude
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { text in
            // From the last digit on; the longest number has 19.
            var start = text.endIndex
            while start > 0, rest > 0 || text.endIndex - start < digits {
                start -= 1
                text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            for byte in text[start...] { append(byte) }
        }
    }

    /// Appends a number of at most three digits, as most in a line of a log are.
    private mutating func appendShort(_ number: UInt32, digits: Int) {
        if number > 99 || digits > 2 { appendDigit(number / 100) }
        if number > 9 || digits > 1 { appendDigit(number / 10 % 10) }
        appendDigit(number % 10)
    }

    private mutating func appendDigit(_ digit: UInt32) {
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
    }
}
