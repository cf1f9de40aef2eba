// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// The files of a cache; each call may block, so that only the queue of a `DiskStore` makes them.
struct DiskState {
    enum Found: Sendable {
        case entry(StoredResponse, StoredBody, FileMark)
        case otherVariants
        case nothing
    }

    let directory: DiskDirectory
    let settings: DiskSettings
    /// Where the bodies of large entries are read.
    let bodyQueue: DispatchQueue
    let openBodies = Locked(0)
    /// The files that were found to be broken.
    let broken = Locked<Set<FileMark>>([])
    var index = DiskIndex()
    var outage = Outage()
    var unremoved = Unremoved()
    var sweep = Sweep()

    init(
        _ directory: DiskDirectory, _ settings: DiskSettings, bodyQueue: DispatchQueue
    ) {
        self.directory = directory
        self.settings = settings
        self.bodyQueue = bodyQueue
    }

    /// The stored response that a request chooses; it counts as used.
    mutating func find(
        _ key: DiskKey, _ request: HTTPHeaders, _ heuristic: HeuristicFreshness
    ) -> Found {
        removeBroken()
        guard isRidOfRemoved(key) else { return .nothing }
        var best: Opened?
        var hasOthers = false
        for name in names(key) ?? [] {
            switch open(name, key) {
            case .opened(let opened):
                guard opened.head.variantKey.matches(request) else {
                    hasOthers = true
                    continue
                }
                // The latest one (RFC 9111 section 4).
                if best.map({ $0.head.received <= opened.head.received }) ?? true { best = opened }
            case .broken(let mark): remove(mark)
            case .missing, .failed: break
            }
        }
        guard let best, let body = body(best) else { return hasOthers ? .otherVariants : .nothing }
        index.see(best.mark.name, length: best.mark.length, used: settings.fileTime())
        let response = best.head.response(
            own: index.items[best.mark.name]?.received, hasQuery: key.hasQuery, heuristic)
        noteUse(best.mark.name)
        return .entry(response, body, best.mark)
    }

    /// Whether the file that a response in memory was read from is still there; it counts as used.
    mutating func isPresent(_ mark: FileMark) -> Bool {
        guard let status = try? directory.status(DiskDirectory.path(mark.name)),
            FileMark(mark.name, status) == mark
        else { return false }
        noteUse(mark.name)
        return true
    }

    private mutating func noteUse(_ name: EntryName) {
        let now = settings.fileTime()
        if index.use(name, at: now, noteEvery: settings.noteInterval) {
            directory.noteUse(DiskDirectory.path(name), at: now)
        }
    }
}
