// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which loads of an origin go first when they wait for the same rate or the same connections.
///
/// Lower classes are never starved: of sixteen starts at least one is theirs while they wait.
public enum Priority: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Work that may wait: prefetching, backfill.
    case low
    /// The default.
    case normal
    /// Work that somebody waits for.
    case high

    /// Orders by urgency, `.low` first.
    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }
}
