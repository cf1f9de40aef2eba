// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// When the files are listed, and the least used ones removed: a pure value.
struct Sweep: Sendable {
    enum Stage: Sendable {
        case idle
        case scanning
        case evicting
    }

    var stage = Stage.idle
    /// Whether the files must be listed whatever their size.
    var isWanted = true
    /// When the files are listed again after a listing that has failed; nil after one that has not.
    var retry: Instant?
    /// Before this instant another process evicts, or the disk takes no changes.
    var nextTry = Instant(nanoseconds: .min)

    /// The part of the capacity that this process adds before it counts what others have added.
    private static let addedPart: Int64 = 16

    /// Whether to list the files now.
    func mustScan(_ index: DiskIndex, capacity: Int64, now: Instant) -> Bool {
        guard case .idle = stage else { return false }
        if isWanted { return true }
        if let retry, retry <= now { return true }
        guard nextTry <= now else { return false }
        return index.bytes > capacity || index.added > capacity / Self.addedPart
    }
}
