// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The names whose addresses a multi handle has been given, with CURLOPT_RESOLVE.
///
/// libcurl parses the addresses and replaces its entry for each transfer that they are set for. So
/// an entry is one that never expires, and is set again only when the addresses are others than
/// libcurl has.
struct NameEntries {
    struct Key: Hashable {
        let name: String
        let port: UInt16
    }

    /// The number of entries above which a new one removes old ones that no transfer needs.
    static let limit = 1_024
    /// The maximum number of entries that are looked at for a new one, while all are in use.
    private static let lookLimit = 16
    /// How many entries a new one removes, so that a table that has grown shrinks again.
    private static let removedPerName = 2
    private var entries: [Key: NameEntry] = [:]
    private var order = FIFO<Key>()
    private let removals = NameRemovals()

    /// The number of entries.
    var count: Int { entries.count }

    /// Returns what a transfer needs to know of its name, which is about to need it.
    mutating func use(_ key: Key, addresses: String) -> NameUse {
        // A line that begins with a minus sign removes an entry. One with a plus sign expires, so
        // that each transfer carries it.
        guard key.name.utf8.first != UInt8(ascii: "-") else {
            return NameUse(of: NameEntry(), addresses, lines: ["+" + Self.line(key, addresses)])
        }
        let isNew = entries[key] == nil
        if isNew { makeRoom() }
        let entry = entries[key] ?? NameEntry()
        guard entry.lacks(addresses) else { return NameUse(of: entry) }
        if isNew {
            entries[key] = entry
            order.append(key)
        }
        let removed = removals.take().filter { entries[$0] == nil }
        let lines = removed.map { "-\($0.name):\($0.port)" } + [Self.line(key, addresses)]
        return NameUse(of: entry, addresses, lines: lines, removing: removed, removals)
    }

    private static func line(_ key: Key, _ addresses: String) -> String {
        "\(key.name):\(key.port):\(addresses)"
    }

    /// Removes the oldest entries that no transfer needs, when there are as many as may be.
    private mutating func makeRoom() {
        guard entries.count >= Self.limit else { return }
        var removed = 0
        for _ in 0..<Self.lookLimit where removed < Self.removedPerName {
            guard entries.count >= Self.limit, let oldest = order.popFirst() else { return }
            if entries[oldest]?.isUsed == false {
                entries[oldest] = nil
                removals.add([oldest])
                removed += 1
            } else {
                order.append(oldest)
            }
        }
    }
}

/// The names that libcurl may still have and no longer needs.
final class NameRemovals {
    /// Beyond this number the oldest ones stay with libcurl until its multi handle is replaced.
    ///
    /// Hardly any wait: those of transfers that were cancelled before libcurl read what they carried.
    static let limit = 64
    private var waiting: [NameEntries.Key] = []

    func add(_ keys: [NameEntries.Key]) {
        waiting += keys
        waiting.removeFirst(max(0, waiting.count - Self.limit))
    }

    fileprivate func take() -> [NameEntries.Key] {
        defer { waiting = [] }
        return waiting
    }
}
