// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes the numbers and texts of an entry's head, the lowest byte first.
struct EntryWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes a text with its length; what is longer than 32 bits can say is refused by the limit
    /// of a head.
    mutating func add(_ text: String) {
        let utf8 = Array(text.utf8)
        add(UInt32(clamping: utf8.count))
        bytes.append(contentsOf: utf8)
    }

    mutating func add(raw more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }
}

/// Reads what `EntryWriter` has written; nil for what is not there.
struct EntryReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The number of bytes that are left: no list in them has more elements.
    var count: Int { rest.count }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        guard let bytes = raw(MemoryLayout<Number>.size) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func text() -> String? {
        guard let count = number(UInt32.self), let bytes = raw(Int(count)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func raw(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
