// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Reads fixed numbers of lower-case hexadecimal digits from the start of a text.
struct HexReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes a number of exactly so many digits, at most 16; nil when they are not there.
    mutating func takeNumber(digits: Int) -> UInt64? {
        var number: UInt64 = 0
        for _ in 0..<digits {
            guard let digit = rest.popFirst().flatMap(Self.value) else { return nil }
            number = number << 4 | digit
        }
        return number
    }

    /// Takes a dash; false when there is none.
    mutating func takeDash() -> Bool { rest.popFirst() == UInt8(ascii: "-") }

    private static func value(of byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        default: nil
        }
    }
}
