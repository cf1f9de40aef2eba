// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Any JSON text as a value, for bodies that have no type of their own.
public enum JSONValue: Hashable, Sendable, Decodable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number; 53 bits of an integer are exact.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])

    /// The most arrays and objects that may stand within one another.
    private static let depth = 64

    /// Decodes whatever comes; throws when more than 64 arrays and objects stand within one another.
    public init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.depth else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "nested too deeply"))
        }
        // What is inside is read once: an error in it is one of the whole.
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

    /// Decodes what is neither array nor object.
    static func scalar(_ decoder: any Decoder) throws -> JSONValue {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Double.self) { return .number(value) }
        return .string(try container.decode(String.self))
    }

    /// The name of a field, whatever it is.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}
