// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// How long a transport uses the answers of name look-ups, in nanoseconds.
struct NameLifetimes: Sendable {
    /// How long addresses are used without a new look-up.
    var fresh: Int64 = 60_000_000_000
    /// How much longer addresses are used while no answer comes (RFC 8767).
    var stale: Int64 = 600_000_000_000
    /// How long the answer that a name has no address is used.
    var negative: Int64 = 5_000_000_000
    /// How long an attempt waits for a new answer before it uses stale addresses.
    var staleAnswerDelay: Int64 = 500_000_000
    /// The time from a failed look-up to the next one, for a name with stale addresses.
    var recheck: Int64 = 5_000_000_000
}

/// Caches the addresses of names, and records which attempts wait for which look-up.
///
/// Equal look-ups are joined: a name that is being looked up only gets another waiter.
/// Addresses past their lifetime are used when a look-up fails temporarily or takes long. Only
/// the answer that the name does not exist drops them.
struct NameCache {
    enum Finding {
        case addresses(String)
        /// Use these addresses, and start a look-up.
        case stale(String)
        case failed(DataLoaderError)
        /// Wait for `resolved`; start the look-up when `isNew`.
        case pending(isNew: Bool)
    }

    private struct Known {
        var addresses: String
        var freshUntil: Int64
        var staleUntil: Int64
    }

    private struct Entry {
        var known: Known?
        var isPending = false
        /// The cache was cleared after the look-up had begun.
        var isOutdated = false
        var noAddressUntil = Int64.min
        /// The last look-up failed or is late, so that attempts do not wait for the next one.
        var isFailing = false
        var nextLookup = Int64.min
        var waiting: [CurlTask] = []
    }

    static let entryLimit = 1_024
    private let lifetimes: NameLifetimes
    private var entries: [String: Entry] = [:]

    init(lifetimes: NameLifetimes = NameLifetimes()) {
        self.lifetimes = lifetimes
    }

    var count: Int { entries.count }

    /// Finds a name; with `pending` the task is added to the waiters.
    mutating func find(_ name: String, for task: CurlTask, now: Int64) -> Finding {
        if entries[name] == nil { makeRoom(now: now) }
        return Self.find(&entries[name, default: Entry()], task, now)
    }

    private static func find(_ entry: inout Entry, _ task: CurlTask, _ now: Int64) -> Finding {
        if let known = entry.known, now < known.freshUntil {
            return .addresses(known.addresses)
        }
        if let known = entry.known, now < known.staleUntil, entry.isFailing {
            guard !entry.isPending, now >= entry.nextLookup else {
                return .addresses(known.addresses)
            }
            entry.isPending = true
            return .stale(known.addresses)
        }
        if now < entry.noAddressUntil { return .failed(.dns) }
        entry.waiting.append(task)
        guard !entry.isPending else { return .pending(isNew: false) }
        entry.isPending = true
        return .pending(isNew: true)
    }

    /// Returns when an attempt that waits for a name uses its stale addresses; never when there
    /// are none.
    func staleAnswerDeadline(_ name: String, since start: Int64, now: Int64) -> Int64 {
        guard let known = entries[name]?.known, now < known.staleUntil else { return .max }
        return start.addingSaturated(lifetimes.staleAnswerDelay)
    }

    /// Removes a waiter because no answer came; returns the stale addresses, if there are any.
    mutating func stopWaitingWithStaleAddresses(_ task: CurlTask, for name: String, now: Int64)
        -> String?
    {
        stopWaiting(task, for: name)
        guard let known = entries[name]?.known, now < known.staleUntil else { return nil }
        entries[name]?.isFailing = true
        return known.addresses
    }

    /// Removes a waiter.
    mutating func stopWaiting(_ task: CurlTask, for name: String) {
        entries[name]?.waiting.removeAll { $0 === task }
    }

    /// Returns whether an answer is needed: by an attempt, or to replace stale addresses.
    func isAwaited(_ name: String) -> Bool {
        entries[name].map { !$0.waiting.isEmpty || $0.known != nil } ?? false
    }

    /// Drops a look-up that will not be made.
    mutating func abandon(_ name: String) {
        entries[name] = nil
    }

    /// Stores an answer; returns the waiters and their result.
    mutating func resolved(
        _ name: String, _ answer: NameAnswer, now: Int64
    ) -> (tasks: [CurlTask], result: Result<String, DataLoaderError>) {
        var entry = entries[name] ?? Entry()
        defer {
            entry.waiting = []
            entry.isPending = false
            let isKept =
                !entry.isOutdated
                && (entry.known != nil || entry.noAddressUntil > now)
            entries[name] = isKept ? entry : nil
        }
        let failure: DataLoaderError
        switch answer {
        case .addresses(let list):
            let addresses = list.joined(separator: ",")
            let end = now.addingSaturated(lifetimes.fresh)
            entry.known = Known(
                addresses: addresses, freshUntil: end,
                staleUntil: end.addingSaturated(lifetimes.stale))
            entry.isFailing = false
            return (entry.waiting, .success(addresses))
        case .unknown:
            entry.known = nil
            entry.isFailing = false
            entry.noAddressUntil = now.addingSaturated(lifetimes.negative)
            return (entry.waiting, .failure(.dns))
        case .unavailable: failure = .dns
        case .outOfResources(let reason): failure = .resources(reason: reason)
        }
        // The answer says nothing about the name, so it is not stored.
        guard let known = entry.known, now < known.staleUntil else {
            entry.known = nil
            return (entry.waiting, .failure(failure))
        }
        entry.isFailing = true
        entry.nextLookup = now.addingSaturated(lifetimes.recheck)
        return (entry.waiting, .success(known.addresses))
    }

    /// Makes the next attempt look a name up again whose addresses did not connect.
    mutating func markStale(_ name: String, now: Int64) {
        guard let known = entries[name]?.known, now < known.freshUntil else { return }
        entries[name]?.known?.freshUntil = now
        entries[name]?.known?.staleUntil = now.addingSaturated(lifetimes.stale)
    }

    /// Drops everything except pending look-ups, whose answers go to their waiters only.
    mutating func removeAll() {
        for (name, entry) in entries {
            if entry.isPending {
                entries[name]?.known = nil
                entries[name]?.isOutdated = true
            } else {
                entries[name] = nil
            }
        }
    }

    private mutating func makeRoom(now: Int64) {
        guard entries.count >= Self.entryLimit else { return }
        entries = entries.filter { _, entry in
            entry.isPending || now < entry.noAddressUntil
                || now < entry.known?.freshUntil ?? .min
        }
        if entries.count >= Self.entryLimit { removeAll() }
    }
}
