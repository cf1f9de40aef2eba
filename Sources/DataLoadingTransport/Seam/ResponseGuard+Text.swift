// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension ResponseGuard {
    static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<end])
    }

    static func trimmed(_ slice: Slice<UnsafeRawBufferPointer>) -> UnsafeRawBufferPointer {
        var start = slice.startIndex
        var end = slice.endIndex
        let bytes = slice.base
        while start < end, isSpace(bytes[start]) { start += 1 }
        while start < end, isSpace(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Decodes a value as UTF-8 where it is valid, else as Latin-1, so that no byte is lost.
    static func text(_ value: UnsafeRawBufferPointer) throws(DataLoaderError) -> String {
        var union: UInt8 = 0
        for byte in value {
            guard byte != 0, byte != UInt8(ascii: "\r"), byte != UInt8(ascii: "\n") else {
                throw .framing(reason: "control byte in a header")
            }
            union |= byte
        }
        if union >= 0x80, String(validating: value, as: UTF8.self) == nil {
            return String(String.UnicodeScalarView(value.lazy.map { Unicode.Scalar($0) }))
        }
        return String(decoding: value, as: UTF8.self)
    }

    static func isEqual(_ bytes: UnsafeRawBufferPointer, _ lowercase: StaticString) -> Bool {
        guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
        for index in 0..<bytes.count
        where bytes[index].asciiLowercased != lowercase.utf8Start[index] {
            return false
        }
        return true
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
