// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// The list of a variable such as `OTEL_RESOURCE_ATTRIBUTES`: `key1=value1,key2=value2`.
///
/// A value may have percent-encoded bytes, and of equal keys the last one counts, as in W3C Baggage,
/// to whose syntax OpenTelemetry refers.
struct KeyValueList {
    let pairs: [(key: String, value: String)]

    /// Reads a list; nil when a part of it is malformed.
    init?(_ text: String) {
        var pairs: [(key: String, value: String)] = []
        for item in text.split(separator: ",") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = parts.first.map(Self.trimmed) ?? ""
            guard parts.count == 2, !key.isEmpty, key.hasOnlyBytes(where: \.isTokenCharacter),
                let value = Self.trimmed(parts[1]).removingPercentEncoding
            else { return nil }
            pairs.removeAll { $0.key == key }
            pairs.append((key, value))
        }
        self.pairs = pairs
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }
}
