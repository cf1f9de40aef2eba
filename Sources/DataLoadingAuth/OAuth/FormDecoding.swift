// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Decodes the fields of a query, each of which may occur once (RFC 6749 section 3.1).
enum FormDecoding {
    static func decode(_ query: Substring) throws(AuthorisationError) -> [String: String] {
        var fields: [String: String] = [:]
        for field in query.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = text(parts[0]),
                let value = parts.count == 2 ? text(parts[1]) : "",
                fields.updateValue(value, forKey: name) == nil
            else { throw .invalidAnswer(reason: "query") }
        }
        return fields
    }

    private static func text(_ encoded: Substring) -> String? {
        encoded.replacing("+", with: " ").removingPercentEncoding
    }
}
