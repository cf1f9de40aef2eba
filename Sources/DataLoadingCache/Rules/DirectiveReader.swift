// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Reads the directives of one `Cache-Control` value, in order.
///
/// A text that is no directive ends at the next comma, so that it hides none of those that follow.
struct DirectiveReader {
    struct Directive {
        /// The name in lower case.
        var name: String
        /// The token, or the content of the quoted string, after "=".
        var value: String?
        var hasValue: Bool
        /// Whether anything but blanks follows, or the value is neither token nor quoted string.
        var isMalformed: Bool
    }

    private var rest: ByteReader

    init(_ text: String) {
        rest = ByteReader(text[...])
    }

    mutating func next() -> Directive? {
        while true {
            _ = rest.take { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
            guard !rest.isAtEnd else { return nil }
            let name = rest.take(while: \.isTokenCharacter)
            var directive = Directive(
                name: String(name).asciiLowercased, value: nil, hasValue: rest.take("="),
                isMalformed: name.isEmpty)
            if directive.hasValue {
                directive.value = quoted() ?? token()
                directive.isMalformed = directive.isMalformed || directive.value == nil
            }
            let tail = rest.take { $0 != UInt8(ascii: ",") }
            if !tail.utf8.allSatisfy(Self.isBlank) { directive.isMalformed = true }
            if !name.isEmpty { return directive }
        }
    }

    private mutating func token() -> String? {
        let token = rest.take(while: \.isTokenCharacter)
        return token.isEmpty ? nil : String(token)
    }

    /// The content of a quoted string (RFC 9110 section 5.6.4); nil when none is there or it does
    /// not end.
    private mutating func quoted() -> String? {
        var text = rest
        guard text.take("\"") else { return nil }
        var content: [UInt8] = []
        while let byte = text.takeByte() {
            if byte == UInt8(ascii: "\"") {
                rest = text
                return String(decoding: content, as: UTF8.self)
            }
            let isEscaped = byte == UInt8(ascii: "\\")
            guard let byte = isEscaped ? text.takeByte() : byte else { return nil }
            content.append(byte)
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension DirectiveReader.Directive {
    /// The value as seconds; nil unless it is a number without sign or fraction.
    var seconds: Duration? {
        guard !isMalformed, let value else { return nil }
        return Duration(deltaSeconds: value[...])
    }
}
