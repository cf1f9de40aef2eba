// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which loads of an origin go first when they wait for the same rate or the same connections.
///
/// They compare by urgency. Lower classes are never starved: of sixteen starts at least one is
/// theirs while they wait.
public enum Priority: Hashable, Comparable, Sendable, CaseIterable {
    /// Work that may wait: prefetching, backfill.
    case low
    /// The default.
    case normal
    /// Work that somebody waits for.
    case high

    /// The place in the order of urgency, from 0.
    var rank: Int {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }
}
