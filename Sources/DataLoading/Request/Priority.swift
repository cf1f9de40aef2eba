// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The urgency of a load that waits for a rate slot or a connection slot.
///
/// Priorities compare by urgency. Lower priorities are never starved: while loads of a lower
/// priority wait, at least one of sixteen starts is theirs.
public enum Priority: Hashable, Comparable, Sendable, CaseIterable {
    /// Work that may be delayed, such as prefetching or backfill.
    case low
    /// The default.
    case normal
    /// Work that a user waits for.
    case high

    /// The position in the order of urgency, from 0.
    var rank: Int {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }
}
