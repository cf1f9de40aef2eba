// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A name that is the same only in the same bytes.
///
/// Two spellings of a text in Unicode are equal as `String`, and may be the names of two users.
public struct NameBytes: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name in UTF-8.
    public let bytes: [UInt8]

    /// Makes the name of a text.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Makes the name of a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}
