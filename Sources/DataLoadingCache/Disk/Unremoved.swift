// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// What was to be removed and is still there, because the disk takes no changes: it answers no
/// request, and its removal is tried again when it is looked for.
struct Unremoved: Sendable {
    /// When the removal is tried again.
    var nextTry = Instant(nanoseconds: .min)
    private(set) var urls: Set<EntryName.URLDigest> = []
    private(set) var partitions: Set<UInt64> = []
    private(set) var isAll = false

    /// The maximum number of URLs and of partitions that are told apart; more count as all.
    static let maxCount = 1_024

    var isEmpty: Bool { !isAll && urls.isEmpty && partitions.isEmpty }

    func contains(_ key: DiskKey) -> Bool {
        isAll || urls.contains(key.urlDigest)
            || partitions.contains(DiskKey.short(key.partition))
    }

    mutating func note(url: EntryName.URLDigest) {
        guard !isAll else { return }
        urls.insert(url)
        if urls.count > Self.maxCount { noteAll() }
    }

    mutating func note(partition: UInt64) {
        guard !isAll else { return }
        partitions.insert(partition)
        if partitions.count > Self.maxCount { noteAll() }
    }

    mutating func noteAll() {
        isAll = true
        urls = []
        partitions = []
    }

    mutating func removed(url: EntryName.URLDigest) {
        urls.remove(url)
    }

    mutating func removed(partition: UInt64) {
        partitions.remove(partition)
    }

    mutating func removedAll() {
        self = Unremoved()
    }
}
