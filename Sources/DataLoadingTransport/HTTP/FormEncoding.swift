// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Serializes `application/x-www-form-urlencoded` bodies by section 5.2 of the URL standard.
package enum FormEncoding {
    package static func encode(_ fields: [(String, String)]) -> Data {
        var bytes = Data()
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            append(field.0, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(field.1, to: &bytes)
        }
        return bytes
    }

    /// Encodes one name or value.
    package static func encode(_ text: String) -> String {
        var bytes = Data()
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func append(_ text: String, to bytes: inout Data) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"):
                bytes.append(byte)
            case UInt8(ascii: " "):
                bytes.append(UInt8(ascii: "+"))
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 0xF)])
            }
        }
    }
}
