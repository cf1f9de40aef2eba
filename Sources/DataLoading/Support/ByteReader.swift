// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Reads a text from its start, byte by byte; what does not match is not taken.
struct ByteReader {
    private var rest: Substring.UTF8View

    init(_ text: Substring) {
        rest = text.utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next byte, left where it is.
    var next: UInt8? { rest.first }

    /// Takes bytes for as long as they match.
    mutating func take(while matches: (UInt8) -> Bool) -> Substring {
        let head = rest.prefix(while: matches)
        rest = rest.dropFirst(head.count)
        return Substring(head)
    }

    /// Takes one byte, whatever it is.
    mutating func takeByte() -> UInt8? { rest.popFirst() }

    /// Takes the literal if the text goes on with it.
    mutating func take(_ literal: String) -> Bool {
        guard rest.starts(with: literal.utf8) else { return false }
        rest = rest.dropFirst(literal.utf8.count)
        return true
    }

    /// Takes the first of the literals that the text goes on with; answers which.
    mutating func take(anyOf literals: [String]) -> Int? {
        for (index, literal) in literals.enumerated() where take(literal) { return index }
        return nil
    }

    /// Takes exactly this many decimal digits; at most 18.
    mutating func takeNumber(digits: Int) -> Int64? {
        let head = rest.prefix(min(digits, 18))
        guard head.count == digits, head.allSatisfy(\.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return head.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}
