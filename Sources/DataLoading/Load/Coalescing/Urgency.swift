// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The priorities of the loads that wait for one request, and the priority that it was told.
struct Urgency: Sendable {
    /// The number of loads of each priority, by rank.
    private var counts = [Int](repeating: 0, count: Priority.allCases.count)
    private(set) var told: Priority?
    private(set) var isTelling = false

    mutating func add(_ priority: Priority) { counts[priority.rank] += 1 }

    mutating func remove(_ priority: Priority) { counts[priority.rank] -= 1 }

    /// That of the most urgent load; nil when none waits.
    private var highest: Priority? { Priority.allCases.last { counts[$0.rank] > 0 } }

    /// Returns the priority to tell, as told; nil when it was told already or no load waits.
    mutating func next() -> Priority? {
        guard let highest, highest != told else { return nil }
        told = highest
        return highest
    }

    /// Returns whether the caller is to tell what `next` returns; false while another one does.
    mutating func beginTelling() -> Bool {
        defer { isTelling = true }
        return !isTelling
    }

    mutating func endTelling() { isTelling = false }
}
