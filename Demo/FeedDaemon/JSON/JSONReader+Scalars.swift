// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Strings and numbers.
extension JSONReader {
    mutating func string() throws(Misreading) -> String {
        let start = scanner.position
        scanner.advance()
        var text = String.UnicodeScalarView()
        while let next = scanner.next, next.value >= 0x20 {
            if scanner.skip("\"") { return String(text) }
            if scanner.skip("\\") {
                text.append(try escaped())
            } else {
                text.append(next)
                scanner.advance()
            }
        }
        throw Misreading(start, "the string does not end on its line")
    }

    /// Reads what follows a backslash.
    private mutating func escaped() throws(Misreading) -> Unicode.Scalar {
        let position = scanner.position
        let next = scanner.next
        scanner.advance()
        switch next {
        case "\"", "\\", "/": return next ?? "/"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try codePoint()
        default: throw Misreading(position, "no escape that JSON knows")
        }
    }

    /// Reads four hexadecimal digits, and four more where the first are half of a pair.
    private mutating func codePoint() throws(Misreading) -> Unicode.Scalar {
        let position = scanner.position
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, scanner.skip("\\"), scanner.skip("u") else {
            throw Misreading(position, "half of a surrogate pair")
        }
        let second = try codeUnit()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(
                0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
        else { throw Misreading(position, "half of a surrogate pair") }
        return scalar
    }

    private mutating func codeUnit() throws(Misreading) -> UInt16 {
        let position = scanner.position
        var digits = ""
        while digits.utf8.count < 4, let next = scanner.next, next.properties.isASCIIHexDigit {
            digits.unicodeScalars.append(next)
            scanner.advance()
        }
        guard digits.utf8.count == 4, let unit = UInt16(digits, radix: 16) else {
            throw Misreading(position, "\\u needs four hexadecimal digits")
        }
        return unit
    }

    mutating func number() throws(Misreading) -> Double {
        let position = scanner.position
        let text = scanner.take { "+-.0123456789eE".unicodeScalars.contains($0) }
        // Swift reads more than JSON allows: 007, .5, 1. and +1 among others.
        guard text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil,
            let number = Double(text), number.isFinite
        else { throw Misreading(position, "\"\(text)\" is no number") }
        return number
    }
}
