// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// Responses in files, which processes share: each call runs on one queue, in its order.
///
/// ```
/// lock                         held by the process that evicts
/// v1/3f/                       one of 256 folders
/// v1/3f/3f…-…-…                a response: digests of its URL, partition and variant
/// v1/3f/new-…                  one that is being written
/// removed-…/                   entries that were removed all at once
/// ```
final class DiskStore: Sendable {
    /// What the store holds, for the statistics.
    struct Usage: Sendable {
        var bytes = 0
        var evicted = 0
        var writeFailures = 0
        var refusesWrites = false
        /// Whether the files are being listed or removed.
        var isSweeping = true
    }

    let settings: DiskSettings
    private let directory: DiskDirectory
    private let isolated: QueueIsolated<DiskState>
    private let scanQueue = DispatchQueue(label: "DataLoading.cache.scan", qos: .utility)
    private let used = Locked(Usage())
    /// What waits to be removed.
    private let removals = Locked(WaitingRemovals())
    /// The number of bytes that wait to be written.
    private let pending = Locked(0)
    /// When the call began that runs now; nil while none runs.
    private let began = Locked<Instant?>(nil)

    /// What a response that waits takes beside its body, about.
    static let overhead = 1_024
    /// The number of files that are removed before other calls get their turn.
    private static let maxInARow = 64

    init(at url: URL, _ settings: DiskSettings) throws(DataLoaderError) {
        let directory = try DiskDirectory(at: url, settings.faults)
        self.directory = directory
        self.settings = settings
        isolated = QueueIsolated(
            DiskState(
                directory, settings, bodyQueue: DispatchQueue(label: "DataLoading.cache.bodies")),
            label: "DataLoading.cache")
        perform { _ in }
    }

    var usage: Usage { used.withLock { $0 } }

    /// Runs a closure with the files, after earlier ones.
    func perform(_ body: @escaping @Sendable (inout DiskState) -> Void) {
        isolated.async { state in
            self.noteCall()
            body(&state)
            self.goOn(&state)
            self.began.withLock { $0 = nil }
        }
    }

    /// Removes all variants of a URL in all partitions, together with others that wait.
    ///
    /// A response that waits meanwhile to be written is told by `Removals`.
    func remove(_ url: EntryName.URLDigest) {
        guard removals.withLock({ $0.add(url) }) else { return }
        perform { state in
            guard let urls = self.removals.withLock({ $0.take() }) else {
                state.removeAll()
                return
            }
            for url in urls {
                self.noteCall()
                state.remove(url)
            }
        }
    }

    /// Notes that a call begins, so that loads see when it takes too long.
    private func noteCall() {
        let now = settings.now()
        began.withLock { $0 = now }
    }

    /// Whether the disk does not answer.
    var isSilent: Bool {
        began.withLock { $0 }.map { settings.now() - $0 >= settings.patience } ?? false
    }

    /// Runs a closure that writes `count` bytes, unless too many wait already; whether it runs.
    func write(_ count: Int, _ body: @escaping @Sendable (inout DiskState) -> Void) -> Bool {
        let isAllowed = pending.withLock { pending in
            guard pending + count <= settings.maxPending || pending == 0 else { return false }
            pending += count
            return true
        }
        guard isAllowed else { return false }
        perform { state in
            body(&state)
            self.pending.withLock { $0 -= count }
        }
        return true
    }
}

/// Lists the files, and removes the least used ones.
extension DiskStore {
    /// Begins what is due, and tells what there is now.
    private func goOn(_ state: inout DiskState) {
        let now = settings.now()
        if state.sweep.mustScan(state.index, capacity: settings.capacity, now: now) {
            state.sweep.stage = .scanning
            state.sweep.isWanted = false
            state.sweep.retry = nil
            state.index.beginScan()
            scanQueue.async {
                let seen = DiskScan.run(self.directory, now: self.settings.fileTime())
                // As loads do: a removal may block too.
                self.perform { state in
                    state.index.endScan(seen)
                    if seen == nil { state.sweep.retry = self.settings.now() + Outage.length }
                    self.evict(&state)
                }
            }
        }
        let usage = Usage(
            bytes: Int(clamping: state.index.bytes), evicted: state.index.evicted,
            writeFailures: state.outage.failures, refusesWrites: state.outage.isFailing,
            isSweeping: state.sweep.stage != .idle)
        used.withLock { $0 = usage }
    }

    private func evict(_ state: inout DiskState) {
        state.sweep.stage = .idle
        guard state.index.bytes > settings.capacity else { return }
        guard let lock = EvictionLock(directory) else {
            return state.sweep.nextTry = settings.now() + .seconds(1)
        }
        state.sweep.stage = .evicting
        let goal = settings.capacity / 10 * 9
        evict(state.index.victims(downTo: goal)[...], lock, &state)
    }

    private func evict(
        _ victims: ArraySlice<DiskIndex.Victim>, _ lock: EvictionLock, _ state: inout DiskState
    ) {
        let row = victims.prefix(Self.maxInARow)
        let gone = row.count { victim in
            noteCall()
            return state.evict(victim)
        }
        let rest = victims.dropFirst(Self.maxInARow)
        // A disk that takes no changes is not asked for each of its files.
        guard gone > 0, !rest.isEmpty else {
            lock.release()
            state.sweep.stage = .idle
            if gone < row.count { state.sweep.nextTry = settings.now() + Outage.length }
            return
        }
        perform { self.evict(rest, lock, &$0) }
    }
}
