// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// For how long a transport uses what it knows about names, in nanoseconds.
    struct NameLifetimes: Sendable {
        /// How long addresses are used without asking again.
        var fresh: Int64 = 60_000_000_000
        /// How much longer they are used while no answer comes (RFC 8767).
        var stale: Int64 = 600_000_000_000
        /// How long a name is known to have no address.
        var negative: Int64 = 5_000_000_000
        /// How long an attempt waits for a new answer before it uses stale addresses.
        var patience: Int64 = 500_000_000
        /// How long after a look-up that failed the next one is made for a name with stale addresses.
        var recheck: Int64 = 5_000_000_000
    }

    /// What the loop knows about names, and which attempts wait for which look-up.
    ///
    /// Equal look-ups are joined here: a name that is being looked up only gains a waiter. Addresses
    /// whose time is over are used when a look-up fails for the time being, or takes long; only an
    /// answer that the name does not exist drops them.
    struct NameCache {
        enum Finding {
            case addresses(String)
            /// Use these addresses, and start a look-up.
            case stale(String)
            case failed(DataLoaderError)
            /// Wait for `resolved`; the look-up is to be started when `isNew`.
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
            /// Everything was forgotten after the look-up had begun.
            var isOutdated = false
            var noAddressUntil = Int64.min
            /// The last look-up failed or is late, so that attempts do not wait for the next one.
            var isTroubled = false
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

        /// Finds a name; the task waits for it when the finding is `pending`.
        mutating func find(_ name: String, for task: CurlTask, now: Int64) -> Finding {
            if entries[name] == nil { makeRoom(now: now) }
            return Self.find(&entries[name, default: Entry()], task, now)
        }

        private static func find(_ entry: inout Entry, _ task: CurlTask, _ now: Int64) -> Finding {
            if let known = entry.known, now < known.freshUntil {
                return .addresses(known.addresses)
            }
            if let known = entry.known, now < known.staleUntil, entry.isTroubled {
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

        /// When an attempt that waits for a name is to use its stale addresses; never without any.
        func patienceEnds(_ name: String, since start: Int64, now: Int64) -> Int64 {
            guard let known = entries[name]?.known, now < known.staleUntil else { return .max }
            return start.addingSaturated(lifetimes.patience)
        }

        /// Ends a task's wait because no answer came; the result is stale addresses, if there are any.
        mutating func giveUpWaiting(_ task: CurlTask, for name: String, now: Int64) -> String? {
            stopWaiting(task, for: name)
            guard let known = entries[name]?.known, now < known.staleUntil else { return nil }
            entries[name]?.isTroubled = true
            return known.addresses
        }

        /// Ends a task's wait.
        mutating func stopWaiting(_ task: CurlTask, for name: String) {
            entries[name]?.waiting.removeAll { $0 === task }
        }

        /// Whether an answer for a name is wanted: by an attempt, or in the place of stale addresses.
        func isAwaited(_ name: String) -> Bool {
            entries[name].map { !$0.waiting.isEmpty || $0.known != nil } ?? false
        }

        /// Forgets a look-up that will not be made.
        mutating func abandon(_ name: String) {
            entries[name] = nil
        }

        /// Stores an answer; the result says who waits for it, and what they get.
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
                entry.isTroubled = false
                return (entry.waiting, .success(addresses))
            case .unknown:
                entry.known = nil
                entry.isTroubled = false
                entry.noAddressUntil = now.addingSaturated(lifetimes.negative)
                return (entry.waiting, .failure(.dns))
            case .unavailable: failure = .dns
            case .outOfResources(let reason): failure = .resources(reason: reason)
            }
            // Not a fact about the name, so that nothing of it is kept.
            guard let known = entry.known, now < known.staleUntil else {
                entry.known = nil
                return (entry.waiting, .failure(failure))
            }
            entry.isTroubled = true
            entry.nextLookup = now.addingSaturated(lifetimes.recheck)
            return (entry.waiting, .success(known.addresses))
        }

        /// Has the next attempt ask again for a name whose addresses did not connect.
        mutating func doubt(_ name: String, now: Int64) {
            guard let known = entries[name]?.known, now < known.freshUntil else { return }
            entries[name]?.known?.freshUntil = now
            entries[name]?.known?.staleUntil = now.addingSaturated(lifetimes.stale)
        }

        /// Drops everything but the look-ups that are under way, whose answers are for those who wait.
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
#endif
