// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A handle that runs transfers and keeps connections.
protocol TransferHolder: AnyObject {
    var transfers: Int { get }
    /// The number of its connections that can still be used.
    var openConnections: Int { get }
    /// When the last of its transfers began or ended.
    var lastUse: Int64 { get }
}

/// The multi handles for attempts over HTTP/1.1: one, and further ones while many attempts run.
///
/// For each transfer libcurl looks through all connections to the host until it finds an idle one.
/// Beside 2,000 transfers that wait for their answers, that made a GET cost half as much again (seen on
/// 7.88.1). So there is a limit on the transfers of a handle. A handle cannot use the connections of another
/// one, and therefore an attempt goes to a handle that has an idle connection for it.
///
/// A place is what tells connections apart: an attempt may use those of its own place.
struct SerialMultis<Multi: TransferHolder, Place: Hashable> {
    /// The number of noted connections above which all are forgotten.
    ///
    /// An attempt that is not sent to its idle connection opens another one.
    static var noteLimit: Int { 16_384 }

    /// The number of transfers with which a handle is full for an attempt without TLS.
    let capacity: Int
    private(set) var all: [Multi] = []
    /// The handles with idle connections for each place, the last one used last.
    ///
    /// They are noted only while there are several handles.
    private var idle: [Place: [Multi]] = [:]
    private(set) var notes = 0
    /// The largest number of transfers at once since the last look for handles that are not needed, and
    /// in the time before it.
    private var peak = 0
    private var formerPeak = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether there are several handles.
    var isSplit: Bool { all.count > 1 }

    private var transfers: Int { all.reduce(0) { $0 + $1.transfers } }

    func contains(_ multi: Multi) -> Bool { all.contains { $0 === multi } }

    /// Takes the handle for an attempt at a place, or for one on a new connection; nil when a handle has
    /// to be added.
    ///
    /// With TLS a handle has room for four times as many: it parses a file of authorities by itself.
    mutating func take(isSecure: Bool, for place: @autoclosure () -> Place?) -> Multi? {
        let room = isSecure ? 4 * capacity : capacity
        guard isSplit else { return all.first { $0.transfers < room } }
        peak = max(peak, transfers + 1)
        if let place = place(), let multi = idle[place]?.last, multi.transfers < 2 * room {
            idle[place]?.removeLast()
            notes -= 1
            return multi
        }
        return all.first { $0.transfers < room }
    }

    /// Adds a handle; when it is the second one, `idle` has the places for which the first one has idle
    /// connections, once for each connection.
    mutating func add(_ multi: Multi, idle: [Place] = []) {
        all.append(multi)
        guard all.count == 2 else { return }
        for place in idle { noteIdle(all[0], for: place) }
    }

    /// Notes that a transfer left an idle connection, as far as is known.
    mutating func noteIdle(_ multi: Multi, for place: Place) {
        guard isSplit else { return }
        if notes >= Self.noteLimit || idle.count >= Self.noteLimit { forget() }
        idle[place, default: []].append(multi)
        notes += 1
    }

    /// Removes and returns half of the handles, at least one, that were not needed since the last call but
    /// one: those with the fewest connections, and of these the ones that were used longest ago.
    ///
    /// They may run transfers. Few are removed at once, because their connections are not used again.
    mutating func removeSurplus() -> [Multi] {
        guard isSplit else { return [] }
        let needed = max(1, (max(peak, formerPeak) + capacity - 1) / capacity)
        (peak, formerPeak) = (transfers, peak)
        guard needed < all.count else { return [] }
        let sorted = all.sorted {
            ($0.openConnections, $0.lastUse) < ($1.openConnections, $1.lastUse)
        }
        let surplus = Array(sorted.prefix((all.count - needed + 1) / 2))
        all.removeAll { multi in surplus.contains { $0 === multi } }
        guard isSplit else {
            forget()
            (peak, formerPeak) = (0, 0)
            return surplus
        }
        idle = idle.compactMapValues { multis in
            let left = multis.filter(contains)
            return left.isEmpty ? nil : left
        }
        notes = idle.values.reduce(0) { $0 + $1.count }
        return surplus
    }

    /// Removes and returns all handles.
    mutating func removeAll() -> [Multi] {
        forget()
        (peak, formerPeak) = (0, 0)
        defer { all = [] }
        return all
    }

    private mutating func forget() {
        idle = [:]
        notes = 0
    }
}
