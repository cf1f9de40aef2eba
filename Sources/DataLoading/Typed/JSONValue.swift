// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A JSON value of any shape, for bodies without a type of their own.
public enum JSONValue: Hashable, Sendable, Decodable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number; integers of up to 53 bits are exact.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])

    /// The maximum number of arrays and objects around a value.
    private static let depth = 64

    /// Decodes any JSON value; throws for a value inside more than 64 nested arrays and objects.
    public init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.depth else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "nested too deeply"))
        }
        // Elements are decoded once: an error in an element is an error of the whole.
        if let fields = try? decoder.container(keyedBy: Name.self) {
            var object: [String: JSONValue] = [:]
            for name in fields.allKeys {
                object[name.stringValue] = try fields.decode(JSONValue.self, forKey: name)
            }
            self = .object(object)
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [JSONValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(JSONValue.self)) }
            self = .array(array)
        } else {
            self = try Self.scalar(decoder)
        }
    }

    /// Decodes a value that is neither an array nor an object.
    package static func scalar(_ decoder: any Decoder) throws -> JSONValue {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Double.self) { return .number(value) }
        return .string(try container.decode(String.self))
    }

    /// The name of any field.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}
