// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A value of the protocol that Redis and Valkey speak, in its third version.
enum RESPValue: Hashable, Sendable {
    /// A short text, such as OK.
    case simple(String)
    /// An error, which is a value where it is part of an array.
    case error(RESPError)
    case number(Int64)
    /// Never NaN.
    case double(Double)
    case boolean(Bool)
    /// Bytes; a verbatim string without its format.
    case bulk([UInt8])
    case null
    /// The elements of an array or a set, in the order in which they came.
    case array([RESPValue])
    /// The pairs of a map, in the order in which they came; a key may be there twice.
    case map([Pair])

    /// A key of a map, and its value.
    struct Pair: Hashable, Sendable {
        let key: RESPValue
        let value: RESPValue
    }
}

extension RESPValue {
    /// The text of a simple string or of bytes; invalid UTF-8 is repaired.
    var text: String? {
        switch self {
        case .simple(let text): text
        case .bulk(let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// A whole number.
    var number: Int64? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The elements of an array.
    var elements: [RESPValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}
