// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A handle that runs transfers.
protocol TransferHolder: AnyObject {
    var transfers: Int { get }
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

    /// The number of transfers with which a handle is full.
    let capacity: Int
    private(set) var all: [Multi] = []
    /// The handles with idle connections for each place, the last one used last.
    ///
    /// They are noted only while there are several handles.
    private var idle: [Place: [Multi]] = [:]
    private(set) var notes = 0
    /// The largest number of transfers at once since handles were last removed.
    private var peak = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether there are several handles.
    var isSplit: Bool { all.count > 1 }

    private var transfers: Int { all.reduce(0) { $0 + $1.transfers } }

    func contains(_ multi: Multi) -> Bool { all.contains { $0 === multi } }

    /// Takes the handle for an attempt at a place, or for one on a new connection; nil when a handle has
    /// to be added.
    mutating func take(for place: Place?) -> Multi? {
        guard isSplit else { return all.first { $0.transfers < capacity } }
        peak = max(peak, transfers + 1)
        if let place, let multi = takeIdle(place) { return multi }
        return all.first { $0.transfers < capacity }
    }

    private mutating func takeIdle(_ place: Place) -> Multi? {
        guard let multi = idle[place]?.popLast() else { return nil }
        notes -= 1
        return multi
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

    /// Removes and returns the handles that were not needed since the last call: those with the fewest
    /// transfers, and of these the ones that were used longest ago.
    ///
    /// Some may have a transfer, since an attempt goes where its connection is.
    mutating func removeSurplus() -> [Multi] {
        guard isSplit else { return [] }
        let needed = max(1, (peak + capacity - 1) / capacity)
        peak = transfers
        guard needed < all.count else { return [] }
        let sorted = all.sorted { ($0.transfers, $0.lastUse) < ($1.transfers, $1.lastUse) }
        let surplus = Array(sorted.prefix(all.count - needed))
        all.removeAll { multi in surplus.contains { $0 === multi } }
        guard isSplit else {
            forget()
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
        peak = 0
        defer { all = [] }
        return all
    }

    private mutating func forget() {
        idle = [:]
        notes = 0
    }
}
