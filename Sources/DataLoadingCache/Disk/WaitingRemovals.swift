// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The URLs whose removal waits for the disk, which may hang: a bounded number of them.
struct WaitingRemovals: Sendable {
    private var urls: Set<EntryName.URLDigest> = []
    private var isAll = false

    /// The maximum number of URLs that are told apart; more count as all.
    static let maxCount = 16_384

    private var isEmpty: Bool { urls.isEmpty && !isAll }

    /// Adds a URL; true when none was waiting.
    mutating func add(_ url: EntryName.URLDigest) -> Bool {
        let isFirst = isEmpty
        if isAll { return isFirst }
        urls.insert(url)
        if urls.count > Self.maxCount { (urls, isAll) = ([], true) }
        return isFirst
    }

    /// Takes all that wait; nil for every URL.
    mutating func take() -> Set<EntryName.URLDigest>? {
        defer { self = WaitingRemovals() }
        return isAll ? nil : urls
    }
}
