// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The attempts of loads that have not ended yet, by the number of the load.
///
/// The end of some loads is never reported under the number that their attempts have: those inside
/// of interceptors, and those that several loads share. So the oldest are dropped.
struct PendingAttempts: Sendable {
    static let maxLoads = 2_048

    private var lists: [Int64: AttemptList] = [:]
    /// The loads in the order of their first attempt; those that have ended may be among them.
    private var order: [Int64] = []
    private var next = 0

    /// The number of loads.
    var count: Int { lists.count }

    /// Adds an attempt; those of the oldest load are dropped where there would be too many loads.
    mutating func add(_ attempt: LiveAttempt, of load: Int64) {
        if lists[load] == nil {
            if lists.count >= Self.maxLoads { dropOldest() }
            order.append(load)
            compact()
        }
        lists[load, default: AttemptList()].append(attempt)
    }

    /// Removes the attempts of a load that ended.
    mutating func take(_ load: Int64) -> AttemptList {
        lists.removeValue(forKey: load) ?? AttemptList()
    }

    private mutating func dropOldest() {
        while next < order.count {
            defer { next += 1 }
            if lists.removeValue(forKey: order[next]) != nil { return }
        }
    }

    /// Removes loads that have ended from the order, once in so many loads that each costs little.
    private mutating func compact() {
        guard order.count > 2 * Self.maxLoads else { return }
        order = order[next...].filter { lists[$0] != nil || $0 == order.last }
        next = 0
    }
}
