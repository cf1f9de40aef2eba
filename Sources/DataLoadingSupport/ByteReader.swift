// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Reads a text from its start, byte by byte; bytes that do not match stay unread.
package struct ByteReader {
    private var rest: Substring.UTF8View

    package init(_ text: Substring) {
        rest = text.utf8
    }

    package var isAtEnd: Bool { rest.isEmpty }

    /// The next byte, which stays unread.
    package var next: UInt8? { rest.first }

    /// Takes bytes while they match.
    package mutating func take(while matches: (UInt8) -> Bool) -> Substring {
        let head = rest.prefix(while: matches)
        rest = rest.dropFirst(head.count)
        return Substring(head)
    }

    /// Takes one byte of any value.
    package mutating func takeByte() -> UInt8? { rest.popFirst() }

    /// Takes the literal if it comes next.
    package mutating func take(_ literal: String) -> Bool {
        guard rest.starts(with: literal.utf8) else { return false }
        rest = rest.dropFirst(literal.utf8.count)
        return true
    }

    /// Takes the first of the literals that comes next; returns its index.
    package mutating func take(anyOf literals: [String]) -> Int? {
        for (index, literal) in literals.enumerated() where take(literal) { return index }
        return nil
    }

    /// Takes exactly this many decimal digits; at most 18.
    package mutating func takeNumber(digits: Int) -> Int64? {
        let head = rest.prefix(min(digits, 18))
        guard head.count == digits, head.allSatisfy(\.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return head.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}
