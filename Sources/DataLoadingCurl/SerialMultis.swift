// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

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
/// one, and therefore an attempt goes to a handle that has an idle connection to its origin.
struct SerialMultis<Multi: TransferHolder> {
    /// The number of noted connections above which all are forgotten.
    ///
    /// An attempt that is not sent to its idle connection opens another one.
    static var noteLimit: Int { 16_384 }

    /// The number of transfers with which a handle is full.
    let capacity: Int
    private(set) var all: [Multi] = []
    /// The handles with idle connections to each origin, the last one used last.
    ///
    /// They are noted only while there are several handles.
    private var idle: [Origin: [Multi]] = [:]
    private(set) var notes = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether there are several handles.
    var isSplit: Bool { all.count > 1 }

    func contains(_ multi: Multi) -> Bool { all.contains { $0 === multi } }

    /// Takes the handle for an attempt to an origin, or for one on a new connection; nil when a handle
    /// has to be added.
    mutating func take(for origin: Origin?) -> Multi? {
        if isSplit, let origin, let multi = takeIdle(origin) { return multi }
        // The first ones, so that the last ones become unused.
        return all.first { $0.transfers < capacity }
    }

    private mutating func takeIdle(_ origin: Origin) -> Multi? {
        // Changed in place, because most origins have an entry that stays.
        guard let multi = idle[origin, default: []].popLast() else {
            idle[origin] = nil
            return nil
        }
        notes -= 1
        return multi
    }

    /// Adds a handle; when it is the second one, `idle` has the origins to which the first one has idle
    /// connections, once for each connection.
    mutating func add(_ multi: Multi, idle: [Origin] = []) {
        all.append(multi)
        guard all.count == 2 else { return }
        for origin in idle { noteIdle(all[0], to: origin) }
    }

    /// Notes that a transfer left an idle connection, as far as is known.
    mutating func noteIdle(_ multi: Multi, to origin: Origin) {
        guard isSplit else { return }
        if notes >= Self.noteLimit { forget() }
        idle[origin, default: []].append(multi)
        notes += 1
    }

    /// Removes and returns the handles without transfers that were not used since an instant, but for
    /// the last handle.
    mutating func removeUnused(since instant: Int64) -> [Multi] {
        guard isSplit else { return [] }
        var unused = all.filter { $0.transfers == 0 && $0.lastUse < instant }
        if unused.count == all.count { unused.removeFirst() }
        guard !unused.isEmpty else { return [] }
        all.removeAll { multi in unused.contains { $0 === multi } }
        guard isSplit else {
            forget()
            return unused
        }
        idle = idle.compactMapValues { multis in
            let left = multis.filter(contains)
            return left.isEmpty ? nil : left
        }
        notes = idle.values.reduce(0) { $0 + $1.count }
        return unused
    }

    /// Removes and returns all handles.
    mutating func removeAll() -> [Multi] {
        forget()
        defer { all = [] }
        return all
    }

    private mutating func forget() {
        idle = [:]
        notes = 0
    }
}
