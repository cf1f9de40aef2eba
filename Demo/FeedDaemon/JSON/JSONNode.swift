// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A JSON value that knows where it stands in its text, so that a mistake can be pointed at.
struct JSONNode: Sendable {
    /// A place in a text; lines and columns count from 1, columns in characters.
    struct Position: Hashable, Sendable {
        var line: Int
        var column: Int
    }

    /// One entry of an object.
    struct Member: Sendable {
        let key: String
        let position: Position
        let value: JSONNode
    }

    enum Value: Sendable {
        case object([Member])
        case array([JSONNode])
        case string(String)
        case number(Double)
        case bool(Bool)
        case null
    }

    let position: Position
    let value: Value

    /// What a message calls the value.
    var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}

/// A mistake in a file, at a place.
struct Misreading: Error, Hashable {
    let position: JSONNode.Position
    let message: String

    init(_ position: JSONNode.Position, _ message: String) {
        self.position = position
        self.message = message
    }
}
