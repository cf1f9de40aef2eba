// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// An error that a server answered.
///
/// Only its code is shown: the text may name keys and arguments.
struct RESPError: Error, Hashable, Sendable, OpaquelyMirrored {
    /// The first word, such as NOSCRIPT; empty when it is no word of capital letters.
    let code: String
    /// All that the server said.
    let text: String

    init(text: String) {
        self.text = text
        let word = text.utf8.prefix { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        let isWord = word.count == text.utf8.count || text.utf8.dropFirst(word.count).first == 0x20
        code = isWord && word.count <= Self.maxCode ? String(decoding: word, as: UTF8.self) : ""
    }

    /// The longest code, in bytes.
    private static let maxCode = 32
}

extension RESPError: CustomStringConvertible {
    /// The code.
    var description: String { code.isEmpty ? "error without a code" : code }
}
