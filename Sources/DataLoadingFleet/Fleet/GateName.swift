// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// The text by which daemons name a closed key to each other: scheme, port, host and path component.
///
/// None of them but the last can have a space.
enum GateName {
    static func text(of key: QuotaKey) -> String {
        ["\(key.scheme) \(key.port) \(key.host)", key.pathComponent].compactMap(\.self)
            .joined(separator: " ")
    }

    /// The key that a text names; nil for what no daemon has written.
    static func key(of text: String) -> QuotaKey? {
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "https" || parts[0] == "http",
            let port = UInt16(parts[1]), !parts[2].isEmpty
        else { return nil }
        return QuotaKey(
            scheme: String(parts[0]), host: String(parts[2]), port: port,
            pathComponent: parts.count > 3 ? String(parts[3]) : nil)
    }
}
