// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// The responses of a `MemoryStore`, and how much room they take: a pure value.
struct MemoryState {
    /// A body, and the file that has it too.
    struct Body: Sendable {
        var bytes: Data
        var file: FileMark?
    }

    typealias Variants = VariantList<Body>

    private let capacity: Int
    private var urls: [CacheKey: Variants] = [:]
    private var recency = RecencyList<CacheKey>()
    private(set) var bytes = 0
    /// Which stored responses may come too late.
    private var removals = Removals()
    /// The number of URLs of each partition.
    private var partitions: [CacheKey.Partition: Int] = [:]
    private(set) var evicted = 0

    /// What a stored response takes beside its body and fields, about.
    private static let overhead = 512

    init(capacity: Int) {
        self.capacity = max(capacity, 0)
    }

    mutating func find(_ key: CacheKey, _ request: HTTPHeaders) -> MemoryStore.Found {
        guard let variants = urls[key] else { return .nothing }
        guard let index = variants.index(for: request) else { return .otherVariants }
        recency.use(key)
        let entry = variants.entries[index]
        return .entry(
            .init(response: entry.response, body: entry.body.bytes, file: entry.body.file))
    }

    /// Stores a response, unless anything was removed since its request looked here, or a newer one
    /// is there; returns what left.
    mutating func store(
        _ entry: MemoryStore.Entry, _ key: CacheKey, for request: HTTPHeaders, since: Removals.Stamp
    ) -> [Variants.Entry] {
        guard !removals.concern(key.target, since: since) else { return [] }
        if let variants = urls[key], variants.overtake(entry.response, for: request) { return [] }
        let body = Body(bytes: entry.body, file: entry.file)
        let new = Variants.Entry(response: entry.response, body: body)
        let size = Self.size(new, key)
        guard size <= capacity else { return remove(key, for: request) }
        if urls[key] == nil { partitions[key.partition, default: 0] += 1 }
        var left = urls[key, default: Variants()].add(new, for: request)
        bytes += size - left.reduce(0) { $0 + Self.size($1, key) }
        recency.use(key)
        left += evict()
        return left
    }

    mutating func update(
        _ old: StoredResponse, by new: StoredResponse, _ key: CacheKey, for request: HTTPHeaders,
        file: FileMark?
    ) -> [Variants.Entry] {
        guard let index = urls[key]?.index(for: request),
            let present = urls[key]?.entries[index], present.response.isSame(as: old)
        else { return [] }
        bytes -= Self.size(present, key)
        let body = Body(bytes: present.body.bytes, file: file ?? present.body.file)
        urls[key]?.update(index, by: new)
        urls[key]?.update(index, body: body)
        bytes += Self.size(Variants.Entry(response: new, body: body), key)
        recency.use(key)
        return [present] + evict()
    }

    /// Removes the response that a request chooses, if it is the one that is meant.
    mutating func drop(
        _ key: CacheKey, for request: HTTPHeaders, if isMeant: (Variants.Entry) -> Bool
    ) -> Variants.Entry? {
        guard let index = urls[key]?.index(for: request),
            urls[key].map({ isMeant($0.entries[index]) }) == true
        else { return nil }
        let left = urls[key]?.remove(index)
        if let left { bytes -= Self.size(left, key) }
        if urls[key]?.isEmpty == true { _ = remove(key) }
        return left
    }

    func isRemoved(_ target: RequestTarget, since stamp: Removals.Stamp) -> Bool {
        removals.concern(target, since: stamp)
    }

    /// Removes the variants that a request chooses.
    private mutating func remove(_ key: CacheKey, for request: HTTPHeaders) -> [Variants.Entry] {
        var left: [Variants.Entry] = []
        while let index = urls[key]?.index(for: request), let entry = urls[key]?.remove(index) {
            left.append(entry)
            bytes -= Self.size(entry, key)
        }
        if urls[key]?.isEmpty == true { _ = remove(key) }
        return left
    }

    mutating func remove(_ key: CacheKey) -> Variants? {
        guard let left = urls.removeValue(forKey: key) else { return nil }
        recency.remove(key)
        for entry in left.entries { bytes -= Self.size(entry, key) }
        let others = partitions[key.partition, default: 1] - 1
        partitions[key.partition] = others > 0 ? others : nil
        return left
    }

    /// The present moment, for a response that is going to be stored.
    var stamp: Removals.Stamp { removals.stamp }

    /// Removes a URL from all partitions; a response to a request that was sent before is not
    /// stored.
    mutating func removeEverywhere(_ target: RequestTarget) -> [Variants] {
        removals.note(target)
        return partitions.keys.compactMap { remove(CacheKey($0, target)) }
    }

    /// Removes what matches; no response to a request that was sent before is stored.
    mutating func removeAll(where matches: (CacheKey) -> Bool) -> [Variants] {
        removals.noteAll()
        return urls.keys.filter(matches).compactMap { remove($0) }
    }

    /// Makes room.
    private mutating func evict() -> [Variants.Entry] {
        var left: [Variants.Entry] = []
        while bytes > capacity, let oldest = recency.oldest, let variants = remove(oldest) {
            left += variants.entries
            evicted += variants.entries.count
        }
        return left
    }

    private static func size(_ entry: Variants.Entry, _ key: CacheKey) -> Int {
        let fields = entry.response.headers.fields.reduce(0) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + MemoryLayout<HTTPHeaders.Field>.stride
        }
        let variant = entry.response.variant.fields.reduce(0) { $0 + ($1.value?.utf8.count ?? 0) }
        let url = key.target.pathAndQuery.utf8.count
        return overhead + entry.body.bytes.count + fields + variant + url
    }
}
