// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The name of a response's file: digests of its URL, of its partition and of its variant.
///
/// All files of a URL begin alike, and so do those of a URL in a partition. The digests are
/// shortened: two URLs, or two partitions, with one name are told apart by the file itself, which
/// has both in full.
struct EntryName: Hashable, Sendable {
    /// The beginning of the digest of a URL.
    struct URLDigest: Hashable, Sendable {
        let high: UInt64
        let low: UInt64
    }

    let url: URLDigest
    let partition: UInt64
    let variant: UInt64

    init(url: URLDigest, partition: UInt64, variant: UInt64) {
        self.url = url
        self.partition = partition
        self.variant = variant
    }

    /// Reads the name of a file; nil for a file of another kind.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 32,
            let high = UInt64(parts[0].prefix(16), radix: 16),
            let low = UInt64(parts[0].suffix(16), radix: 16),
            let partition = UInt64(parts[1], radix: 16), let variant = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(
            url: URLDigest(high: high, low: low), partition: partition, variant: variant)
        // No other spelling, such as one in capitals, is a name.
        guard self.text == text else { return nil }
    }

    var text: String { Self.prefix(url, partition) + Self.hexadecimal(variant) }

    /// The folder of the file.
    var folder: String { Self.folder(url) }

    /// The beginning of the names of all files of a URL.
    static func prefix(_ url: URLDigest) -> String {
        hexadecimal(url.high) + hexadecimal(url.low) + "-"
    }

    /// The beginning of the names of a URL's files in a partition.
    static func prefix(_ url: URLDigest, _ partition: UInt64) -> String {
        prefix(url) + hexadecimal(partition) + "-"
    }

    /// The folder of a URL's files: one of 256.
    static func folder(_ url: URLDigest) -> String {
        String(hexadecimal(url.high).prefix(2))
    }

    /// All folders.
    static let folders = (UInt64(0)..<256).map { String(hexadecimal($0).suffix(2)) }

    private static func hexadecimal(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(16 - text.utf8.count, 0)) + text
    }
}
