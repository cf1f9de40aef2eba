// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A text as a line of a log may show it, escaped for a quoted string of JSON or logfmt.
///
/// Characters that could start a line, control a terminal or reverse the direction of text become
/// "?". Then only `"` and `\` need an escape, and both formats write it in the same way.
struct PrintableText {
    private let text: String
    private let maxBytes: Int

    /// Takes a text, of which at most `maxBytes` are shown, escapes and the final "…" included.
    init(_ text: String, maxBytes: Int) {
        self.text = text
        self.maxBytes = maxBytes
    }

    /// Whether logfmt needs quotes: a reader would end the value early, or read an escape.
    var needsQuotes: Bool {
        text.isEmpty || !text.utf8.allSatisfy { Self.isPlain($0) && $0 != UInt8(ascii: "=") }
    }

    /// Appends the text, without the quotes around it.
    func append(to bytes: inout FixedBytes) {
        // Nearly all texts are short, and are what they say.
        if text.utf8.count <= maxBytes, appendPlain(to: &bytes) { return }
        let start = bytes.count
        // The end of the longest prefix after which an ellipsis fits.
        var lastEnd = start
        for scalar in text.unicodeScalars {
            Self.append(scalar, to: &bytes)
            let length = bytes.count - start
            if length <= maxBytes - Self.ellipsis.count { lastEnd = bytes.count }
            guard length > maxBytes else { continue }
            bytes.removeAll(after: lastEnd)
            for byte in Self.ellipsis { bytes.append(byte) }
            return
        }
    }

    /// Appends a text whose bytes are all plain; false for another one.
    private func appendPlain(to bytes: inout FixedBytes) -> Bool {
        let isAppended = text.utf8.withContiguousStorageIfAvailable { text in
            guard text.allSatisfy(Self.isPlain) else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        return isAppended ?? false
    }

    /// Whether a byte is a visible character of ASCII that no format escapes.
    static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static let ellipsis = Array("…".utf8)

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout FixedBytes) {
        switch scalar {
        case "\"", "\\":
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        case " "..."~":
            bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        default:
            for byte in UTF8.encode(scalar.isShown ? scalar : "?") ?? .init() {
                bytes.append(byte)
            }
        }
    }
}
