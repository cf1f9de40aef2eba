// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Writes JSON (RFC 8259) without a line feed, member by member, in the order of the calls.
///
/// Written byte by byte: a `JSONEncoder` takes many times as long, and orders members as it likes.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    /// Whether a value comes before the next one in its object or array.
    private var needsComma = false

    /// Writes an object with the members that `body` adds.
    mutating func object(_ body: (inout JSONWriter) -> Void) { enclose("{", "}", body) }

    /// Writes an array with the values that `body` adds.
    mutating func array(_ body: (inout JSONWriter) -> Void) { enclose("[", "]", body) }

    /// Writes an array with a value for each element, as `body` adds it.
    mutating func array<Element>(
        of elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) -> Void
    ) {
        array { json in for element in elements { body(&json, element) } }
    }

    /// Writes the name of the member whose value comes next.
    mutating func key(_ name: StaticString) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: "\":".utf8)
        needsComma = false
    }

    /// Writes a text.
    mutating func value(_ text: String) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { append(escaped: byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a whole number; readers that keep numbers as doubles are exact up to 2^53.
    mutating func value(_ number: Int64) {
        beginValue()
        bytes.appendDecimal(number)
    }

    /// Writes a number; null for one that JSON has no word for.
    mutating func value(_ number: Double) {
        beginValue()
        bytes.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
    }

    /// Writes a truth value.
    mutating func value(_ isTrue: Bool) {
        beginValue()
        bytes.append(contentsOf: (isTrue ? "true" : "false").utf8)
    }

    private mutating func enclose(
        _ open: Character, _ close: Character, _ body: (inout JSONWriter) -> Void
    ) {
        beginValue()
        bytes.append(contentsOf: open.utf8)
        needsComma = false
        body(&self)
        bytes.append(contentsOf: close.utf8)
        needsComma = true
    }

    private mutating func beginValue() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case ..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(UInt8(ascii: "0") + byte >> 4)
            bytes.append(contentsOf: Array("0123456789abcdef".utf8)[Int(byte & 0xF)...].prefix(1))
        default: bytes.append(byte)
        }
    }
}
