// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Reads JSON as RFC 8259 has it and nothing else, and keeps the place of every value.
///
/// Foundation's decoder says what is wrong but not where, which is of little help in a file that
/// somebody wrote by hand. No comments, no trailing commas, no doubled keys; nesting is bounded, so
/// that no file can exhaust the stack.
struct JSONReader {
    private static let deepest = 32

    var scanner: CharacterScanner
    private var depth = 0

    /// Reads the one value that a text holds.
    static func read(_ text: String) throws(Misreading) -> JSONNode {
        var reader = JSONReader(scanner: CharacterScanner(text))
        reader.scanner.skipSpace()
        let node = try reader.value()
        reader.scanner.skipSpace()
        guard reader.scanner.isAtEnd else { throw reader.unexpected("after the value") }
        return node
    }

    private mutating func value() throws(Misreading) -> JSONNode {
        let position = scanner.position
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else {
            throw Misreading(position, "nested more than \(Self.deepest) deep")
        }
        let value: JSONNode.Value =
            switch scanner.next {
            case "{": .object(try members())
            case "[": .array(try elements())
            case "\"": .string(try string())
            case let next? where next == "-" || ("0"..."9").contains(next): .number(try number())
            case let next? where ("a"..."z").contains(next): try word()
            default: throw unexpected("where a value should stand")
            }
        return JSONNode(position: position, value: value)
    }

    private mutating func members() throws(Misreading) -> [JSONNode.Member] {
        var members: [JSONNode.Member] = []
        var keys: Set<String> = []
        try list(until: "}") { reader throws(Misreading) in
            let position = reader.scanner.position
            guard reader.scanner.next == "\"" else {
                throw reader.unexpected("where a key in quotes should stand")
            }
            let key = try reader.string()
            guard keys.insert(key).inserted else {
                throw Misreading(position, "\"\(key)\" stands here for the second time")
            }
            reader.scanner.skipSpace()
            guard reader.scanner.skip(":") else { throw reader.unexpected("instead of \":\"") }
            reader.scanner.skipSpace()
            let value = try reader.value()
            members.append(JSONNode.Member(key: key, position: position, value: value))
        }
        return members
    }

    private mutating func elements() throws(Misreading) -> [JSONNode] {
        var elements: [JSONNode] = []
        try list(until: "]") { reader throws(Misreading) in
            elements.append(try reader.value())
        }
        return elements
    }

    /// Reads what stands between brackets, separated by commas.
    private mutating func list(
        until end: Unicode.Scalar, _ item: (inout JSONReader) throws(Misreading) -> Void
    ) throws(Misreading) {
        scanner.advance()
        scanner.skipSpace()
        if scanner.skip(end) { return }
        while true {
            try item(&self)
            scanner.skipSpace()
            if scanner.skip(end) { return }
            guard scanner.skip(",") else { throw unexpected("instead of \",\" or \"\(end)\"") }
            scanner.skipSpace()
        }
    }

    private mutating func word() throws(Misreading) -> JSONNode.Value {
        let position = scanner.position
        let word = scanner.take { ("a"..."z").contains($0) }
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: throw Misreading(position, "\"\(word)\" is no value; a text needs quotes")
        }
    }

    /// A mistake that says what stands here.
    func unexpected(_ place: String) -> Misreading {
        guard let next = scanner.next else {
            return Misreading(scanner.position, "the file ends too early")
        }
        let isVisible = (0x21...0x7E).contains(next.value) || next.properties.isAlphabetic
        let name = isVisible ? "\"\(next)\"" : "U+" + String(next.value, radix: 16)
        return Misreading(scanner.position, "\(name) \(place)")
    }
}
