// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What one transfer needs of a name, and what it carries to libcurl.
///
/// A transfer needs its name from the setting of its options until it sends, as libcurl would look
/// up a name without an entry by itself.
struct NameUse {
    /// The lines for CURLOPT_RESOLVE; nil where libcurl has these addresses.
    let lines: [String]?
    private let entry: NameEntry
    private let removed: [NameEntries.Key]
    private let removals: NameRemovals?

    /// Notes a transfer that carries addresses.
    init(
        of entry: NameEntry, _ addresses: String, lines: [String],
        removing removed: [NameEntries.Key] = [], _ removals: NameRemovals? = nil
    ) {
        self.entry = entry
        self.lines = lines
        self.removed = removed
        self.removals = removals
        entry.begin(carrying: addresses)
    }

    /// Notes a transfer for whose name libcurl has the addresses.
    init(of entry: NameEntry) {
        self.entry = entry
        lines = nil
        removed = []
        removals = nil
        entry.begin(carrying: nil)
    }

    /// Notes that the transfer sends, or has ended before; libcurl has read what it carried when it
    /// sends.
    func end(sends: Bool) {
        entry.end(isCarrier: lines != nil, sends: sends)
        if !sends, !removed.isEmpty { removals?.add(removed) }
    }
}

/// What libcurl has been given for one name, and the transfers that need it.
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

    /// Whether a transfer has to carry the addresses.
    func lacks(_ addresses: String) -> Bool { loaded != addresses }

    fileprivate func begin(carrying addresses: String?) {
        users += 1
        guard let addresses else { return }
        loaded = nil
        isMixed = carriers > 0 && (isMixed || carried != addresses)
        carried = addresses
        carriers += 1
    }

    fileprivate func end(isCarrier: Bool, sends: Bool) {
        users -= 1
        guard isCarrier else { return }
        carriers -= 1
        if sends, !isMixed { loaded = carried }
    }
}
