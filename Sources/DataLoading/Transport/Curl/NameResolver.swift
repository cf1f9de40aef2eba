// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// Looks names up, up to 64 at once, on threads that exist only while there are names to look up.
    ///
    /// libcurl's own resolver makes one thread a look-up, does not join equal ones, and up to 7.86
    /// holds the loop until `getaddrinfo` returns when its transfer is cancelled. `getaddrinfo`
    /// cannot be cancelled and may take 10 s and more while name servers are silent. So names that
    /// were slow or had no answer the last time take at most half of the threads, and with them those
    /// that one zone has many of: labels may be as random as a stranger likes.
    final class NameResolver: Sendable {
        typealias Lookup = @Sendable (String) -> NameAnswer
        private typealias Answer = @Sendable (NameAnswer) -> Void

        private struct Waiting {
            let answer: Answer
            let isSuspect: Bool
        }

        private struct State {
            var waiting: [String: Waiting] = [:]
            /// The names of `waiting` in order, and names that were forgotten since.
            var order = FIFO<String>()
            var suspectOrder = FIFO<String>()
            var suspects = SuspectNames()
            var workers = 0
            var workersOnSuspects = 0
            /// How many names of both orders may have been forgotten.
            var forgotten = 0

            /// Notes a name to be looked up; returns whether it is a suspect.
            mutating func add(_ name: String, _ answer: @escaping Answer) -> Bool {
                let isSuspect = suspects.contains(name)
                waiting[name] = Waiting(answer: answer, isSuspect: isSuspect)
                if isSuspect {
                    suspectOrder.append(name)
                } else {
                    order.append(name)
                    suspects.begin(name)
                }
                return isSuspect
            }

            mutating func forget(_ name: String) -> Bool {
                guard let waited = waiting.removeValue(forKey: name) else { return false }
                if !waited.isSuspect { suspects.end(name) }
                forgotten += 1
                // So that names that come and go while all threads are taken cost no memory.
                if forgotten > 1_024, forgotten > waiting.count {
                    forgotten = 0
                    order = order.filtered { waiting[$0] != nil }
                    suspectOrder = suspectOrder.filtered { waiting[$0] != nil }
                }
                return true
            }

            /// The next name, unless all that wait are suspects and enough of those are looked up.
            mutating func next() -> (name: String, answer: Answer, isSuspect: Bool)? {
                while let name = order.popFirst() {
                    guard let waited = waiting[name], !waited.isSuspect else { continue }
                    waiting[name] = nil
                    return (name, waited.answer, false)
                }
                guard workersOnSuspects < NameResolver.suspectLimit else { return nil }
                while let name = suspectOrder.popFirst() {
                    guard let waited = waiting[name], waited.isSuspect else { continue }
                    waiting[name] = nil
                    workersOnSuspects += 1
                    return (name, waited.answer, true)
                }
                return nil
            }
        }

        static let workerLimit = 64
        /// How many names are looked up at once that were slow or had no answer the last time.
        static let suspectLimit = 32
        /// How long a look-up may take without being taken for slow, in nanoseconds.
        private static let slowness: Int64 = 2_000_000_000
        private static let stackSize = 524_288
        private let lookup: Lookup
        private let state = Locked(State())

        init(lookup: @escaping Lookup = systemLookup) {
            self.lookup = lookup
        }

        /// Looks a name up; the answer comes on another thread.
        ///
        /// Equal names are the caller's to join.
        func resolve(_ name: String, answer: @escaping @Sendable (NameAnswer) -> Void) {
            let needsWorker = state.withLock { state in
                let isSuspect = state.add(name, answer)
                guard state.workers < Self.workerLimit,
                    !isSuspect || state.workersOnSuspects < Self.suspectLimit
                else { return false }
                state.workers += 1
                return true
            }
            guard needsWorker else { return }
            if let thread = LoopThread.start(
                "names", stackSize: Self.stackSize, { self.work() })
            {
                pthread_detach(thread)
            } else {
                failWithoutWorker()
            }
        }

        /// Forgets a name whose answer then never comes; false when a thread has taken it already.
        func forget(_ name: String) -> Bool {
            state.withLock { $0.forget(name) }
        }

        /// Forgets the names that no thread has taken yet; their answers never come.
        func stop() {
            state.withLock { $0.waiting = [:] }
        }

        private func work() {
            while true {
                let next = state.withLock { state in
                    let next = state.next()
                    if next == nil { state.workers -= 1 }
                    return next
                }
                guard let next else { return }
                let start = LoopClock.now
                let answer = lookup(next.name)
                let isSlow = LoopClock.now &- start > Self.slowness
                state.withLock { state in
                    if next.isSuspect {
                        state.workersOnSuspects -= 1
                    } else {
                        state.suspects.end(next.name)
                    }
                    state.suspects.note(next.name, isSlow || answer == .unavailable)
                }
                next.answer(answer)
            }
        }

        private func failWithoutWorker() {
            let stranded = state.withLock { state in
                state.workers -= 1
                guard state.workers == 0 else { return [] as [Answer] }
                defer {
                    state.waiting = [:]
                    state.suspects = SuspectNames()
                }
                return state.waiting.values.map(\.answer)
            }
            for answer in stranded { answer(.outOfResources("no thread for a name look-up")) }
        }
    }
#endif
