// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

extension DiskState {
    /// Removes all variants of a URL in all partitions.
    mutating func remove(_ url: EntryName.URLDigest) {
        let folder = DiskDirectory.folder(EntryName.folder(url))
        let isDone = removeFiles(in: folder, beginning: EntryName.prefix(url)) { _ in true }
        isDone ? unremoved.removed(url: url) : unremoved.note(url: url)
    }

    /// Removes a response, if it is still there.
    mutating func remove(_ old: StoredResponse, _ key: DiskKey) {
        let name = key.name(old.variant.fields)
        guard isRidOfRemoved(key), case .opened(let present) = open(name, key),
            present.head.isOf(old)
        else { return }
        if !remove(present.mark) { unremoved.note(url: key.urlDigest) }
    }

    /// Removes what a partition has, and returns whether all of it is gone.
    ///
    /// Only the names of all files are read.
    @discardableResult mutating func forget(_ partition: UInt64) -> Bool {
        var isDone = true
        for folder in EntryName.folders {
            let isEmpty = removeFiles(in: DiskDirectory.folder(folder), beginning: "") {
                $0.partition == partition
            }
            isDone = isEmpty && isDone
        }
        isDone ? unremoved.removed(partition: partition) : unremoved.note(partition: partition)
        return isDone
    }

    /// Takes everything away in one step, and returns whether it could; a scan then removes the
    /// files.
    @discardableResult mutating func removeAll() -> Bool {
        do throws(DiskFailure) {
            try directory.rename(
                DiskDirectory.entries, to: directory.freshName(DiskDirectory.removed))
        } catch {
            guard error.isMissing else {
                unremoved.noteAll()
                return false
            }
        }
        unremoved.removedAll()
        index.removeAll()
        sweep.isWanted = true
        return true
    }

    /// Removes a file; false when it cannot.
    @discardableResult mutating func remove(_ name: EntryName) -> Bool {
        guard (try? directory.remove(DiskDirectory.path(name))) != nil else { return false }
        index.remove(name)
        return true
    }

    /// Removes a file to make room, unless it was used meanwhile; false when it cannot.
    ///
    /// One that cannot be removed counts as used now, so that others leave in its place next time.
    mutating func evict(_ victim: DiskIndex.Victim) -> Bool {
        guard index.items[victim.name]?.used == victim.used else { return true }
        guard remove(victim.name) else {
            _ = index.use(victim.name, at: settings.fileTime(), noteEvery: .max)
            return false
        }
        index.noteEviction()
        return true
    }

    /// Removes the files that were found to be broken, unless others have their names now.
    mutating func removeBroken() {
        let marks = broken.withLock { marks in
            defer { marks = [] }
            return marks
        }
        for mark in marks { remove(mark) }
    }

    /// Removes a file, unless another has its name now; false when it cannot.
    ///
    /// A file that another process gives the name to between the look and the removal is removed, which
    /// costs a request.
    @discardableResult mutating func remove(_ mark: FileMark) -> Bool {
        do throws(DiskFailure) {
            let status = try directory.status(DiskDirectory.path(mark.name))
            return FileMark(mark.name, status) == mark ? remove(mark.name) : true
        } catch {
            return error.isMissing
        }
    }

    /// Whether nothing is left of an earlier removal of a key.
    mutating func isRidOfRemoved(_ key: DiskKey) -> Bool {
        guard !unremoved.isEmpty, unremoved.contains(key) else { return true }
        guard unremoved.nextTry <= settings.now() else { return false }
        if unremoved.isAll { removeAll() }
        for partition in unremoved.partitions { forget(partition) }
        if unremoved.urls.contains(key.urlDigest) { remove(key.urlDigest) }
        unremoved.nextTry = settings.now() + Outage.length
        return !unremoved.contains(key)
    }

    private mutating func removeFiles(
        in folder: String, beginning prefix: String, where matches: (EntryName) -> Bool
    ) -> Bool {
        guard let texts = try? directory.names(in: folder, beginning: prefix) else { return false }
        var names = texts.compactMap { EntryName($0) }.filter(matches)
        // The oldest first: a process that is killed now leaves none that another has replaced.
        if names.count > 1 {
            let written = names.map { name in
                let status = try? directory.status(DiskDirectory.path(name))
                return (name: name, time: status?.writtenAt.nanoseconds ?? 0)
            }
            names = written.sorted { $0.time < $1.time }.map(\.name)
        }
        var isDone = true
        for name in names { isDone = remove(name) && isDone }
        return isDone
    }
}
