// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The attempts of loads that have not ended yet, by the number of the load.
///
/// The end of some loads is never reported under the number that their attempts have: those inside
/// of interceptors, and those that several loads share. So the oldest are dropped.
struct PendingAttempts: Sendable {
    static let maxLoads = 2_048

    private var lists: [Int64: AttemptList] = [:]

    /// The number of loads.
    var count: Int { lists.count }

    /// Adds an attempt; those of the older half are dropped where there would be too many loads.
    mutating func add(_ attempt: LiveAttempt, of load: Int64) {
        if lists.count >= Self.maxLoads, lists[load] == nil { dropOldest() }
        lists[load, default: AttemptList()].append(attempt)
    }

    /// Removes the attempts of a load that ended.
    mutating func take(_ load: Int64) -> AttemptList {
        lists.removeValue(forKey: load) ?? AttemptList()
    }

    /// Half of them at once, so that each costs little; a load that began later has a higher number.
    private mutating func dropOldest() {
        for load in lists.keys.sorted().prefix(Self.maxLoads / 2) { lists[load] = nil }
    }
}
