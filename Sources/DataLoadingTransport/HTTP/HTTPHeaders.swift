// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport

/// An ordered list of header fields, whose names are compared without regard to case.
///
/// A name may have any number of values. This type checks nothing; a load whose names or values are
/// not allowed on the wire ends `.invalidRequest`. The description shows only names, so that logged
/// headers reveal no secret.
public struct HTTPHeaders: Sendable, OpaquelyMirrored {
    /// One header field.
    public struct Field: Hashable, Sendable, OpaquelyMirrored {
        /// The name, in its original case.
        public var name: String
        /// The value; values from a server have no surrounding white space.
        public var value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields, in order.
    public private(set) var fields: [Field]

    /// Makes headers from fields, in order, and keeps duplicates.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The values of a name joined by ", "; nil when the name has none.
    ///
    /// Setting a value replaces the first field of the name and removes its others. Setting nil
    /// removes all fields of the name.
    public subscript(name: String) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else { return nil }
            var joined = fields[first].value
            for field in fields[(first + 1)...] where field.isNamed(name) {
                joined += ", " + field.value
            }
            return joined
        }
        set {
            guard let newValue else { return fields.removeAll { $0.isNamed(name) } }
            guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else {
                return add(newValue, for: name)
            }
            fields[first] = Field(name: name, value: newValue)
            var index = fields.count - 1
            while index > first {
                if fields[index].isNamed(name) { fields.remove(at: index) }
                index -= 1
            }
        }
    }

    /// Returns the values of a name, in order.
    public func values(for name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.map(\.value)
    }

    /// Appends a value and keeps the existing ones.
    public mutating func add(_ value: String, for name: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether any field has the name.
    package func contains(_ name: String) -> Bool {
        fields.contains { $0.isNamed(name) }
    }
}

extension HTTPHeaders {
    /// Whether both serialize to the same bytes.
    ///
    /// `String` equality is not enough: it compares different Unicode spellings of a text as equal.
    package func hasSameBytes(as other: HTTPHeaders) -> Bool {
        fields.count == other.fields.count
            && zip(fields, other.fields).allSatisfy {
                $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value)
            }
    }

    /// Whether both have the same fields in the same order: names compared without regard to case,
    /// values by bytes.
    package func hasSameFields(as other: HTTPHeaders) -> Bool {
        fields.count == other.fields.count
            && zip(fields, other.fields).allSatisfy {
                $0.isNamed($1.name) && $0.value.hasSameBytes(as: $1.value)
            }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes headers from a literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension HTTPHeaders: Hashable {
    /// Whether both have the same fields in the same order, names compared without regard to case.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        left.fields.count == right.fields.count
            && zip(left.fields, right.fields).allSatisfy {
                $0.isNamed($1.name) && $0.value == $1.value
            }
    }

    /// Hashes the values and the lower-case names.
    public func hash(into hasher: inout Hasher) {
        for field in fields {
            hasher.combine(field.name.lowercased())
            hasher.combine(field.value)
        }
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The names, in order, without their values.
    public var description: String {
        "[" + fields.map(\.name).joined(separator: ", ") + "]"
    }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    /// The name, without the value.
    public var description: String { name }

    package func isNamed(_ other: String) -> Bool {
        name.equalsIgnoringASCIICase(other)
    }
}
