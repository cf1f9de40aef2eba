// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// What the loop knows about names: addresses for 60 s, failures for 5 s, and who waits for which.
    ///
    /// Equal look-ups are joined here: a name that is being looked up only gains a waiter.
    struct NameCache {
        enum Finding {
            case addresses(String)
            case failed(DataLoaderError)
            /// Wait for `resolved`; the look-up is to be started when `isNew`.
            case pending(isNew: Bool)
        }

        private enum Entry {
            case pending
            case known(String, until: Int64)
            case failed(DataLoaderError, until: Int64)
        }

        static let positiveLifetime: Int64 = 60_000_000_000
        static let negativeLifetime: Int64 = 5_000_000_000
        static let entryLimit = 1_024
        private var entries: [String: Entry] = [:]
        private var waiting: [String: [CurlTask]] = [:]

        var count: Int { entries.count }

        /// Finds a name; the task waits for it when the finding is `pending`.
        mutating func find(_ name: String, for task: CurlTask, now: Int64) -> Finding {
            switch entries[name] {
            case .known(let addresses, let end) where now < end: return .addresses(addresses)
            case .failed(let error, let end) where now < end: return .failed(error)
            case .pending:
                waiting[name, default: []].append(task)
                return .pending(isNew: false)
            default:
                makeRoom(now: now)
                entries[name] = .pending
                waiting[name] = [task]
                return .pending(isNew: true)
            }
        }

        /// Ends a task's wait.
        mutating func stopWaiting(_ task: CurlTask, for name: String) {
            waiting[name]?.removeAll { $0 === task }
        }

        /// Whether any task waits for a name.
        func isAwaited(_ name: String) -> Bool { waiting[name]?.isEmpty == false }

        /// Forgets a look-up that will not be made.
        mutating func abandon(_ name: String) {
            entries[name] = nil
            waiting[name] = nil
        }

        /// Stores an answer; the result is who waits for it.
        mutating func resolved(_ name: String, _ answer: NameAnswer, now: Int64) -> [CurlTask] {
            switch answer {
            case .addresses(let addresses):
                let end = now &+ Self.positiveLifetime
                entries[name] = .known(addresses.joined(separator: ","), until: end)
            case .unknown:
                entries[name] = .failed(.dns, until: now &+ Self.negativeLifetime)
            case .outOfResources(let reason):
                // Not a fact about the name, so only those who waited hear of it.
                entries[name] = .failed(.resources(reason: reason), until: now)
            }
            return waiting.removeValue(forKey: name) ?? []
        }

        /// The failure that was just stored, for those who waited.
        func failure(_ name: String) -> DataLoaderError? {
            guard case .failed(let error, _) = entries[name] else { return nil }
            return error
        }

        /// Addresses that were just stored, for those who waited.
        func addresses(_ name: String) -> String? {
            guard case .known(let addresses, _) = entries[name] else { return nil }
            return addresses
        }

        /// Drops addresses that did not connect, so that the next attempt asks again.
        mutating func forget(_ name: String) {
            if case .known = entries[name] { entries[name] = nil }
        }

        /// Drops everything but the look-ups that are under way.
        mutating func removeAll() {
            entries = entries.filter { if case .pending = $0.value { true } else { false } }
        }

        private mutating func makeRoom(now: Int64) {
            guard entries.count >= Self.entryLimit else { return }
            entries = entries.filter { entry in
                switch entry.value {
                case .pending: true
                case .known(_, let end), .failed(_, let end): now < end
                }
            }
            if entries.count >= Self.entryLimit { removeAll() }
        }
    }
#endif
