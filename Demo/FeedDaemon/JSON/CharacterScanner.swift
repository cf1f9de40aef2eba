// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Walks over a text and counts lines and columns on the way.
struct CharacterScanner {
    private let scalars: String.UnicodeScalarView
    private var index: String.UnicodeScalarView.Index
    private(set) var position = JSONNode.Position(line: 1, column: 1)

    init(_ text: String) {
        scalars = text.unicodeScalars
        index = scalars.startIndex
    }

    var isAtEnd: Bool { index == scalars.endIndex }

    /// The character that comes next, nil at the end.
    var next: Unicode.Scalar? { isAtEnd ? nil : scalars[index] }

    mutating func advance() {
        guard let next else { return }
        if next == "\n" {
            position.line += 1
            position.column = 1
        } else {
            position.column += 1
        }
        scalars.formIndex(after: &index)
    }

    /// Steps over a character if it comes next.
    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        advance()
        return true
    }

    mutating func skipSpace() {
        _ = take { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
    }

    /// Takes the characters that come next for as long as they fit.
    mutating func take(while fits: (Unicode.Scalar) -> Bool) -> String {
        let start = index
        while let next, fits(next) { advance() }
        return String(scalars[start..<index])
    }
}
