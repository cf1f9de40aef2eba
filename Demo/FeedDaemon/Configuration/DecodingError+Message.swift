// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension DecodingError {
    /// The key path and what is wrong there, such as `features[1].interval must be a number`.
    var message: String {
        switch self {
        case .keyNotFound(let key, let context):
            return Self.place(context.codingPath + [key]) + " is missing"
        case .valueNotFound(let type, let context):
            return Self.place(context.codingPath) + " must be \(Self.kind(type)), not null"
        case .typeMismatch(let type, let context):
            // The kind that was found is only in the description.
            let found = context.debugDescription.firstMatch(of: /found (.+) instead/)?.output.1
            return Self.place(context.codingPath) + " must be \(Self.kind(type))"
                + (found.map { ", not \($0)" } ?? "")
        case .dataCorrupted(let context):
            let cause = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"]
            return Self.place(context.codingPath) + " " + context.debugDescription
                + (cause.map { ": \($0)" } ?? "")
        @unknown default:
            return "\(self)"
        }
    }

    /// A path as JavaScript writes it; names with other characters than letters are quoted.
    private static func place(_ path: [any CodingKey]) -> String {
        let text = path.reduce("") { text, key in
            if let index = key.intValue { return "\(text)[\(index)]" }
            guard key.stringValue.allSatisfy(\.isLetter), !key.stringValue.isEmpty else {
                return text + "[\(key.stringValue.debugDescription)]"
            }
            return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
        }
        return text.isEmpty ? "the configuration" : text
    }

    private static func kind(_ type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Double.Type: "a number"
        default: "\(type)".hasPrefix("Array") ? "an array" : "an object"
        }
    }
}
