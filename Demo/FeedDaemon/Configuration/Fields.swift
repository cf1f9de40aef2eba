// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The members of a JSON object; unknown keys and values out of range are errors with their path.
struct Fields<Key: CodingKey> {
    private let container: KeyedDecodingContainer<Key>

    /// Opens an object that may have the keys of a type and no others.
    init(_ decoder: any Decoder) throws where Key: CaseIterable {
        let all = try decoder.container(keyedBy: AnyKey.self)
        try Self.check(all.allKeys, at: decoder.codingPath)
        container = try decoder.container(keyedBy: Key.self)
    }

    fileprivate init(_ container: KeyedDecodingContainer<Key>) {
        self.container = container
    }

    /// The keys that are there, sorted.
    var keys: [Key] { container.allKeys.sorted { $0.stringValue < $1.stringValue } }

    func required<Value: Decodable>(_ key: Key, _: Value.Type = Value.self) throws -> Value {
        try container.decode(Value.self, forKey: key)
    }

    /// Nil when the key is missing; null is an error.
    func optional<Value: Decodable>(_ key: Key, _: Value.Type = Value.self) throws -> Value? {
        container.contains(key) ? try required(key, Value.self) : nil
    }

    /// An array that is not empty.
    func list<Element: Decodable>(
        _ key: Key, of type: Element.Type = Element.self
    ) throws -> [Element] {
        let elements = try required(key, [Element].self)
        guard !elements.isEmpty else { throw error(key, "must not be empty") }
        return elements
    }

    func number(_ key: Key, in range: ClosedRange<Double>) throws -> Double? {
        guard let number = try optional(key, Double.self) else { return nil }
        guard range.contains(number) else {
            let (low, high) = (range.lowerBound.formatted(), range.upperBound.formatted())
            throw error(key, "must be between \(low) and \(high)")
        }
        return number
    }

    /// A time in seconds, never zero.
    func seconds(_ key: Key) throws -> Duration? {
        try number(key, in: 0.001...86_400).map { .seconds($0) }
    }

    /// The object of a key, with keys of its own; nil when the key is missing.
    func object<Inner: CodingKey & CaseIterable>(
        _ key: Key, _ type: Inner.Type
    ) throws -> Fields<Inner>? {
        guard let all = try object(key, AnyKey.self) else { return nil }
        try Fields<Inner>.check(all.keys, at: path(key))
        return Fields<Inner>(try container.nestedContainer(keyedBy: type, forKey: key))
    }

    /// The object of a key, with any keys; nil when the key is missing.
    func object(_ key: Key, _ type: AnyKey.Type) throws -> Fields<AnyKey>? {
        guard container.contains(key) else { return nil }
        return Fields<AnyKey>(try container.nestedContainer(keyedBy: type, forKey: key))
    }

    func path(_ key: Key, _ inner: AnyKey...) -> [any CodingKey] {
        container.codingPath + [key] + inner
    }

    func error(_ key: Key, _ flaw: String) -> DecodingError { .flaw(path(key), flaw) }

    func missing(_ key: Key) -> DecodingError {
        .keyNotFound(key, .init(codingPath: container.codingPath, debugDescription: ""))
    }

    private static func check(
        _ keys: [AnyKey], at path: [any CodingKey]
    ) throws where Key: CaseIterable {
        let strange = keys.map(\.stringValue).filter { Key(stringValue: $0) == nil }.min()
        guard let strange else { return }
        let known = Key.allCases.map { "\"\($0.stringValue)\"" }.joined(separator: ", ")
        throw DecodingError.flaw(path + [AnyKey(strange)], "is an unknown key; there are \(known)")
    }
}

/// Any member of an object, or an element of an array.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }

    init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) { self.init(intValue) }
}

extension DecodingError {
    /// An error whose text follows the key path.
    static func flaw(_ path: [any CodingKey], _ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: path, debugDescription: text))
    }
}
