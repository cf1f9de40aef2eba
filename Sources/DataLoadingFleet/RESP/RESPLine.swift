// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The values that are one line of the protocol.
enum RESPLine {
    /// Returns the value of a line; nil when its type is one whose content follows.
    static func value(
        _ type: UInt8, _ text: ArraySlice<UInt8>
    ) throws(RESPFault) -> RESPValue? {
        switch type {
        case UInt8(ascii: "+"): return .simple(String(decoding: text, as: UTF8.self))
        case UInt8(ascii: "-"):
            return .error(RESPError(text: String(decoding: text, as: UTF8.self)))
        case UInt8(ascii: ":"):
            guard let number = number(text) else { throw .number }
            return .number(number)
        case UInt8(ascii: ","): return .double(try double(text))
        case UInt8(ascii: "#"):
            if text.elementsEqual("t".utf8) { return .boolean(true) }
            guard text.elementsEqual("f".utf8) else { throw .malformed }
            return .boolean(false)
        case UInt8(ascii: "_"):
            guard text.isEmpty else { throw .malformed }
            return .null
        default: return nil
        }
    }

    /// Returns a decimal number with an optional sign; nil when it is none, or does not fit.
    static func number(_ text: ArraySlice<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative || text.first == UInt8(ascii: "+") ? text.dropFirst() : text
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard digit.isDigit else { return nil }
            let (scaled, isLarge) = number.multipliedReportingOverflow(by: 10)
            let value = Int64(digit - UInt8(ascii: "0"))
            let (sum, isLarger) =
                isNegative
                ? scaled.subtractingReportingOverflow(value) : scaled.addingReportingOverflow(value)
            guard !isLarge, !isLarger else { return nil }
            number = sum
        }
        return number
    }

    /// Returns a decimal number with a fraction and an exponent, or an infinite one.
    private static func double(_ text: ArraySlice<UInt8>) throws(RESPFault) -> Double {
        if text.elementsEqual("inf".utf8) { return .infinity }
        if text.elementsEqual("-inf".utf8) { return -.infinity }
        // Otherwise hexadecimal numbers would be taken too.
        let isDecimal = text.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
        guard isDecimal, let number = Double(String(decoding: text, as: UTF8.self)),
            number.isFinite
        else { throw .malformed }
        return number
    }
}
