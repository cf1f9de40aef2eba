// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The value of a label inside of its quotation marks.
    var escapedForLabel: String {
        guard utf8.contains(where: { Self.escapes($0) != nil }) else { return self }
        var bytes: [UInt8] = []
        for byte in utf8 {
            if let letter = Self.escapes(byte) {
                bytes += [UInt8(ascii: "\\"), letter]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The letter that follows a backslash for a byte; nil for one that is written as it is.
    private static func escapes(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""): byte
        case UInt8(ascii: "\n"): UInt8(ascii: "n")
        default: nil
        }
    }
}
