// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// What this process knows of the files: how large they are and when they were used; a pure value.
///
/// It says which files are to leave. Whether a file is there, only the disk says, because other
/// processes write too.
struct DiskIndex {
    struct Item: Hashable, Sendable {
        /// The room that the file takes.
        var length: Int64
        /// When the file was used last, in nanoseconds since 1970.
        var used: Int64
        /// When that was noted at the file itself.
        var noted: Int64
        /// The moment at which this process has received the response; nil if another one did.
        var received: CacheMoment?
    }

    /// A file as a scan has found it.
    struct Seen: Hashable, Sendable {
        let name: EntryName
        let length: Int64
        let used: Int64
    }

    /// A file that is to leave, unless it is used again.
    struct Victim: Sendable {
        let name: EntryName
        let used: Int64
    }

    /// The length of a block of most file systems.
    private static let block: Int64 = 4_096

    /// The room of a file: it takes whole blocks, and a part of the memory of this index.
    static func room(_ length: Int64) -> Int64 {
        let length = max(length, 1).addingSaturated(block - 1)
        return length - length % block
    }

    private(set) var items: [EntryName: Item] = [:]
    private(set) var bytes: Int64 = 0
    private(set) var evicted = 0
    /// The names that have changed since the present scan began; nil when there is none.
    private var changed: Set<EntryName>?
    /// The number of bytes that were added since the last scan.
    private(set) var added: Int64 = 0

    mutating func set(_ name: EntryName, _ item: Item) {
        let old = items.updateValue(item, forKey: name)?.length ?? 0
        bytes.addSaturated(item.length - old)
        added.addSaturated(item.length)
        changed?.insert(name)
    }

    /// Notes a file that another process has written; its use is to be noted at the file.
    mutating func see(_ name: EntryName, length: Int64, used: Int64) {
        let length = Self.room(length)
        guard items[name]?.length != length else { return }
        let old = items[name]?.length ?? 0
        items[name] = Item(length: length, used: used, noted: 0)
        bytes.addSaturated(length - old)
        changed?.insert(name)
    }

    /// Notes a use; true when it is to be noted at the file, as it is at most once in an interval.
    mutating func use(_ name: EntryName, at now: Int64, noteEvery interval: Int64) -> Bool {
        guard var item = items[name] else { return true }
        item.used = max(item.used, now)
        // A clock that went back notes at once.
        let (time, isFar) = now.subtractingReportingOverflow(item.noted)
        let mustNote = isFar || time < 0 || time >= interval
        if mustNote { item.noted = now }
        items[name] = item
        return mustNote
    }

    mutating func remove(_ name: EntryName) {
        changed?.insert(name)
        guard let item = items.removeValue(forKey: name) else { return }
        bytes.addSaturated(-item.length)
    }

    mutating func removeAll() {
        changed = changed.map { $0.union(items.keys) }
        items = [:]
        bytes = 0
    }

    mutating func beginScan() {
        changed = []
        added = 0
    }

    /// Takes over what a scan has found, except for what has changed meanwhile; keeps what it has
    /// after one that has failed.
    mutating func endScan(_ seen: [Seen]?) {
        guard let changed = changed.take(), let seen else { return }
        var present: [EntryName: Item] = [:]
        present.reserveCapacity(seen.count)
        for file in seen where !changed.contains(file.name) {
            var item =
                items[file.name] ?? Item(length: 0, used: file.used, noted: file.used)
            item.length = Self.room(file.length)
            item.used = max(item.used, file.used)
            present[file.name] = item
        }
        for name in changed { present[name] = items[name] }
        items = present
        bytes = present.values.reduce(0) { $0.addingSaturated($1.length) }
    }

    /// The files that are to leave for a size, those first that were not used for longest.
    func victims(downTo size: Int64) -> [Victim] {
        var rest = bytes
        var victims: [Victim] = []
        for (name, item) in items.sorted(by: { $0.value.used < $1.value.used }) {
            guard rest > size else { break }
            rest -= item.length
            victims.append(Victim(name: name, used: item.used))
        }
        return victims
    }

    mutating func noteEviction() {
        evicted += 1
    }
}
