// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DecodingError {
    /// The place in the data and what is wrong there, such as `items[2].name is missing`.
    ///
    /// It has names of the program's types and keys, and nothing of the data, which may be secret.
    /// The error's own description can have values of the data.
    var safeReason: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\(Self.place(context.codingPath + [key])) is missing"
        case .valueNotFound(let type, let context):
            "\(Self.place(context.codingPath)) has no value for \(type)"
        case .typeMismatch(let type, let context):
            "\(Self.place(context.codingPath)) has no \(type)"
        case .dataCorrupted(let context):
            "\(Self.place(context.codingPath)) is malformed"
        @unknown default:
            "a decoding error of another kind"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        let text = path.reduce("") { text, key in
            if let index = key.intValue, key.stringValue == "Index \(index)" {
                return "\(text)[\(index)]"
            }
            // The keys of a dictionary come from the server.
            let name = isOfProgram(key) ? key.stringValue : "…"
            return text.isEmpty ? name : "\(text).\(name)"
        }
        return text.isEmpty ? "the body" : text
    }

    /// Whether a key is a case of an enum without values, as those that the compiler makes.
    private static func isOfProgram(_ key: any CodingKey) -> Bool {
        let mirror = Mirror(reflecting: key)
        return mirror.displayStyle == .enum && mirror.children.isEmpty
    }
}
