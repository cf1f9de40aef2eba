// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The `Content-Range` field of a 206 with one range: `bytes 5-9/10` (RFC 9110 section 14.4).
struct ContentRange: Equatable {
    let first: Int64
    let last: Int64
    /// The length of the whole body.
    let length: Int64

    /// Parses a field value; nil unless it has every number and the numbers are consistent.
    init?(_ text: String) {
        var rest = Substring(text)
        guard rest.prefix(6).lowercased() == "bytes " else { return nil }
        rest = rest.dropFirst(6)
        guard let dash = rest.firstIndex(of: "-"), let slash = rest.firstIndex(of: "/"),
            dash < slash, let first = Self.number(rest[..<dash]),
            let last = Self.number(rest[rest.index(after: dash)..<slash]),
            let length = Self.number(rest[rest.index(after: slash)...]),
            first <= last, last < length
        else { return nil }
        self.first = first
        self.last = last
        self.length = length
    }

    /// Whether it is the whole body.
    var isWhole: Bool { first == 0 && last == length - 1 }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(text)
    }
}

extension DataLoaderError {
    /// The end of a load whose server sends a part instead of the whole.
    static let unaskedRange = DataLoaderError.framing(reason: "a range that was not asked for")
}
