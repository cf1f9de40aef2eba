// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// SHA-256 (FIPS 180-4), of a message that comes in pieces.
///
/// On Linux neither the toolchain nor libcurl offers one.
package struct SHA256: Sendable {
    private var engine = SHA256Engine()

    package init() {}

    /// Adds the next bytes of the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        engine.update(bytes)
    }

    /// The 32-byte hash of the bytes so far.
    package var hash: [UInt8] { engine.hash }

    /// The 32-byte hash of a message.
    package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        var hash = SHA256()
        Array(message).withUnsafeBytes { hash.update($0) }
        return hash.hash
    }

    /// Returns the hash that 64 hexadecimal digits represent; nil for any other text.
    package static func hash(hex text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var hash: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else {
                return nil
            }
            hash.append(high << 4 | low)
        }
        return hash
    }

    /// The hexadecimal digits of a hash.
    package static func hex(_ hash: some Sequence<UInt8>) -> String {
        hash.reduce(into: "") { $0 += String($1 >> 4, radix: 16) + String($1 & 15, radix: 16) }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit.asciiLowercased {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit.asciiLowercased - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
