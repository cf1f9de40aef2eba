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

    /// The maximum number of entries that no transfer needs.
    static let limit = 1_024
    private var entries: [Key: NameEntry] = [:]
    private var order = FIFO<Key>()

    /// The number of entries.
    var count: Int { entries.count }

    /// Returns the entry of a name for a transfer that is about to need it, and the lines for
    /// CURLOPT_RESOLVE; nil where libcurl has these addresses.
    mutating func use(_ key: Key, addresses: String) -> (entry: NameEntry, lines: [String]?) {
        // A line that begins with a minus sign removes an entry. One with a plus sign expires, so
        // that each transfer carries it.
        guard key.name.utf8.first != UInt8(ascii: "-") else {
            let entry = NameEntry()
            _ = entry.use(addresses)
            return (entry, ["+" + Self.line(key, addresses)])
        }
        if let entry = entries[key] {
            guard entry.use(addresses) else { return (entry, nil) }
            return (entry, [Self.line(key, addresses)])
        }
        let removed = makeRoom().map { ["-\($0.name):\($0.port)"] } ?? []
        let entry = NameEntry()
        _ = entry.use(addresses)
        entries[key] = entry
        order.append(key)
        return (entry, removed + [Self.line(key, addresses)])
    }

    private static func line(_ key: Key, _ addresses: String) -> String {
        "\(key.name):\(key.port):\(addresses)"
    }

    /// Removes the oldest entry that no transfer needs, when there are as many as may be.
    private mutating func makeRoom() -> Key? {
        guard entries.count >= Self.limit else { return nil }
        for _ in 0..<entries.count {
            guard let oldest = order.popFirst() else { return nil }
            if entries[oldest]?.isUsed == false {
                entries[oldest] = nil
                return oldest
            }
            order.append(oldest)
        }
        return nil
    }
}

/// What libcurl has been given for one name, and the transfers that need it.
///
/// A transfer needs it from the setting of its options until it sends, as libcurl would look up a
/// name without an entry by itself.
final class NameEntry {
    /// The addresses that libcurl certainly has.
    private var loaded: String?
    /// The addresses that transfers carry which have not sent yet.
    private var carried = ""
    private var carriers = 0
    /// Those transfers carry different addresses, so that any of these may be the last that libcurl
    /// reads.
    private var isMixed = false
    private var users = 0

    /// Whether a transfer needs the entry.
    var isUsed: Bool { users > 0 }

    /// Notes a transfer; returns whether it has to carry the addresses.
    fileprivate func use(_ addresses: String) -> Bool {
        users += 1
        if loaded == addresses { return false }
        loaded = nil
        isMixed = carriers > 0 && (isMixed || carried != addresses)
        carried = addresses
        carriers += 1
        return true
    }

    /// Notes that a transfer sends, or has ended before; libcurl has read what it carried when it
    /// sends.
    func end(isCarrier: Bool, sends: Bool) {
        users -= 1
        guard isCarrier else { return }
        carriers -= 1
        if sends, !isMixed { loaded = carried }
    }
}
