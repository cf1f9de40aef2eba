// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// What a response is found under on disk.
struct DiskKey: Hashable, Sendable {
    let url: String
    let hasQuery: Bool
    /// The SHA-256 of the name of the partition: a name may be that of a user.
    let partition: [UInt8]
    /// The beginning of the SHA-256 of the URL.
    let urlDigest: EntryName.URLDigest

    /// Makes it; nil for a partition that ends with the process.
    init?(_ key: CacheKey) {
        guard let partition = Self.digest(of: key.partition) else { return nil }
        self.partition = partition
        url = key.target.urlText
        hasQuery = key.target.pathAndQuery.utf8.contains(UInt8(ascii: "?"))
        urlDigest = Self.digest(of: key.target)
    }

    /// The beginning of the SHA-256 of a URL.
    static func digest(of target: RequestTarget) -> EntryName.URLDigest {
        let digest = SHA256.hash(target.urlText.utf8)
        return EntryName.URLDigest(high: short(digest), low: short(digest.dropFirst(8)))
    }

    private static let shared = SHA256.hash("shared".utf8)

    /// The digest of a partition; nil for one that ends with the process.
    static func digest(of partition: CacheKey.Partition) -> [UInt8]? {
        switch partition {
        case .shared: shared
        case .named(let name): SHA256.hash(Array("named ".utf8) + name.bytes)
        case .unnamed: nil
        }
    }

    /// The beginning of a digest, for the names of files.
    static func short(_ digest: some Sequence<UInt8>) -> UInt64 {
        digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The name of the file of a variant.
    func name(_ variant: [VariantKey.Field]) -> EntryName {
        var writer = EntryWriter()
        for field in variant {
            writer.add(field.name)
            writer.add(UInt8(field.value == nil ? 0 : 1))
            writer.add(field.value ?? "")
        }
        return EntryName(
            url: urlDigest, partition: Self.short(partition),
            variant: XXHash64.hash(writer.bytes))
    }
}
