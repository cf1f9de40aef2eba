// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An object's entries, asked for by name: what is missing, misspelt or of the wrong kind is told.
struct ObjectFields {
    let position: JSONNode.Position
    private let what: String
    private let values: [String: JSONNode]

    /// Opens an object that may have these keys and no others.
    init(_ node: JSONNode, of what: String, keys: [String]) throws(Misreading) {
        guard case .object(let members) = node.value else {
            throw node.mistake("\(what) must be an object, not \(node.kind)")
        }
        var values: [String: JSONNode] = [:]
        for member in members {
            guard keys.contains(member.key) else {
                let known = keys.map { "\"\($0)\"" }.joined(separator: ", ")
                throw Misreading(
                    member.position,
                    "\(what) has no \"\(member.key)\"; it may have \(known)")
            }
            values[member.key] = member.value
        }
        position = node.position
        self.what = what
        self.values = values
    }

    subscript(key: String) -> JSONNode? { values[key] }

    /// The value of a key that must be there.
    func required(_ key: String) throws(Misreading) -> JSONNode {
        guard let value = values[key] else {
            throw Misreading(position, "\(what) needs \"\(key)\"")
        }
        return value
    }
}

extension JSONNode {
    /// A mistake at this value.
    func mistake(_ message: String) -> Misreading {
        Misreading(position, message)
    }

    func text(_ what: String) throws(Misreading) -> String {
        guard case .string(let text) = value else {
            throw mistake("\(what) must be a string, not \(kind)")
        }
        guard !text.isEmpty else { throw mistake("\(what) must not be empty") }
        return text
    }

    func flag(_ what: String) throws(Misreading) -> Bool {
        guard case .bool(let flag) = value else {
            throw mistake("\(what) must be true or false, not \(kind)")
        }
        return flag
    }

    func elements(_ what: String) throws(Misreading) -> [JSONNode] {
        guard case .array(let elements) = value else {
            throw mistake("\(what) must be an array, not \(kind)")
        }
        guard !elements.isEmpty else { throw mistake("\(what) must not be empty") }
        return elements
    }

    func members(_ what: String) throws(Misreading) -> [Member] {
        guard case .object(let members) = value else {
            throw mistake("\(what) must be an object, not \(kind)")
        }
        return members
    }

    func number(_ what: String, in range: ClosedRange<Double>) throws(Misreading) -> Double {
        guard case .number(let number) = value else {
            throw mistake("\(what) must be a number, not \(kind)")
        }
        guard range.contains(number) else {
            let (low, high) = (range.lowerBound.formatted(), range.upperBound.formatted())
            throw mistake("\(what) must be between \(low) and \(high)")
        }
        return number
    }

    /// A time in seconds, never zero.
    func seconds(_ what: String) throws(Misreading) -> Duration {
        .seconds(try number(what, in: 0.001...86_400))
    }

    /// An absolute http or https URL without user information, as the library takes it.
    func url(_ what: String) throws(Misreading) -> URL {
        let text = try text(what)
        guard let parts = URLComponents(string: text), let url = URL(string: text),
            url.absoluteString == text, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw mistake("\(what) is no URL") }
        guard let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw mistake("\(what) must begin with http:// or https://")
        }
        guard let host = parts.host, !host.isEmpty else { throw mistake("\(what) has no host") }
        guard parts.user == nil, parts.password == nil else {
            throw mistake("\(what) must not hold a name or password; use \"token\"")
        }
        return url
    }
}
