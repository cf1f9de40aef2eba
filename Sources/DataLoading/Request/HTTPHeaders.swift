// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Header fields in order, with names compared without regard to case and any number of values each.
///
/// Nothing is checked here; `perform` refuses names and values that may not go on the wire.
/// The description shows names only, so that logging headers leaks no secret.
public struct HTTPHeaders: Sendable {
    /// One field line.
    public struct Field: Hashable, Sendable {
        /// The name as it was given.
        public var name: String
        /// The value, without surrounding white space when it came from a server.
        public var value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Every field in order.
    public private(set) var fields: [Field]

    /// Makes headers from fields, in order, duplicates kept.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The values of a name joined by ", ", nil when there is none.
    ///
    /// Setting puts one value in the place of the first and drops the others; nil removes all.
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

    /// Each value of a name, in order.
    public func values(for name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.map(\.value)
    }

    /// Appends a value, keeping those that are there.
    public mutating func add(_ value: String, for name: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Whether any field has the name.
    public func contains(_ name: String) -> Bool {
        fields.contains { $0.isNamed(name) }
    }
}

extension HTTPHeaders {
    /// Whether the same bytes go on the wire; texts are equal that are spelt differently in Unicode.
    func hasSameBytes(as other: HTTPHeaders) -> Bool {
        fields.count == other.fields.count
            && zip(fields, other.fields).allSatisfy {
                Self.isSame($0.name, $1.name) && Self.isSame($0.value, $1.value)
            }
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        // Bytes in a row are compared several times as fast as a string's own view of them.
        let isSame = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { left.elementsEqual($0) }
        }
        return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes headers from a literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension HTTPHeaders: Hashable {
    /// Equal when the same fields stand in the same order, names compared without regard to case.
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
    /// The names, in order; never a value.
    public var description: String {
        "[" + fields.map(\.name).joined(separator: ", ") + "]"
    }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    /// The name; never the value.
    public var description: String { name }

    func isNamed(_ other: String) -> Bool {
        name.equalsIgnoringASCIICase(other)
    }
}
