// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSupport
    import Glibc
#else
    import Musl
#endif

/// Resolves up to 64 names at once, or a share of that, on threads that exist only while there are
/// names to resolve.
///
/// libcurl's own resolver starts a thread for each look-up, does not join equal ones, and up to
/// 7.86 blocks the loop until `getaddrinfo` returns when its transfer is cancelled.
/// `getaddrinfo` cannot be cancelled and may take 10 s and more while name servers are silent.
/// So suspect names use at most half of the threads: names that were slow or had no answer the
/// last time, and names of a zone with many look-ups, whose labels an attacker may choose at
/// random.
final class NameResolver: Sendable {
    typealias Lookup = @Sendable (String) -> NameAnswer
    private typealias Answer = @Sendable (NameAnswer) -> Void

    private struct Pending {
        let answer: Answer
        let isSuspect: Bool
    }

    private struct State {
        var waiting: [String: Pending] = [:]
        /// The names of `waiting` in order, and names that were dropped since.
        var order = FIFO<String>()
        var suspectOrder = FIFO<String>()
        var suspects = SuspectNames()
        var workers = 0
        var workersOnSuspects = 0
        /// How many names in both orders may have been dropped.
        var forgotten = 0
        let suspectLimit: Int

        init(suspectLimit: Int) {
            self.suspectLimit = suspectLimit
        }

        /// Adds a name to be resolved; returns whether it is suspect.
        mutating func add(_ name: String, _ answer: @escaping Answer) -> Bool {
            let isSuspect = suspects.contains(name)
            waiting[name] = Pending(answer: answer, isSuspect: isSuspect)
            if isSuspect {
                suspectOrder.append(name)
            } else {
                order.append(name)
                suspects.begin(name)
            }
            return isSuspect
        }

        mutating func forget(_ name: String) -> Bool {
            guard let pending = waiting.removeValue(forKey: name) else { return false }
            if !pending.isSuspect { suspects.end(name) }
            forgotten += 1
            // Names that are added and dropped while all threads are busy must not accumulate.
            if forgotten > 1_024, forgotten > waiting.count {
                forgotten = 0
                // Once each, although one that was dropped and added again is in its list twice.
                var kept: Set<String> = []
                order = order.filtered {
                    waiting[$0]?.isSuspect == false && kept.insert($0).inserted
                }
                suspectOrder = suspectOrder.filtered {
                    waiting[$0]?.isSuspect == true && kept.insert($0).inserted
                }
            }
            return true
        }

        /// Returns the next name; nil if only suspect ones wait and enough of those are being
        /// resolved.
        mutating func next() -> (name: String, answer: Answer, isSuspect: Bool)? {
            while let name = order.popFirst() {
                guard let pending = waiting[name], !pending.isSuspect else { continue }
                waiting[name] = nil
                return (name, pending.answer, false)
            }
            guard workersOnSuspects < suspectLimit else { return nil }
            while let name = suspectOrder.popFirst() {
                guard let pending = waiting[name], pending.isSuspect else { continue }
                waiting[name] = nil
                workersOnSuspects += 1
                return (name, pending.answer, true)
            }
            return nil
        }
    }

    static let workerLimit = 64
    /// The maximum number of threads for suspect names.
    static let suspectLimit = 32
    /// The time after which a look-up counts as slow, in nanoseconds.
    private static let slowness: Int64 = 2_000_000_000
    private static let stackSize = 524_288
    private let lookup: Lookup
    private let workerLimit: Int
    private let state: Locked<State>

    init(workerLimit: Int = workerLimit, lookup: @escaping Lookup = systemLookup) {
        self.lookup = lookup
        self.workerLimit = workerLimit
        state = Locked(State(suspectLimit: max(1, workerLimit / 2)))
    }

    /// Resolves a name; the answer comes on another thread.
    ///
    /// The caller joins equal names.
    func resolve(_ name: String, answer: @escaping @Sendable (NameAnswer) -> Void) {
        let needsWorker = state.withLock { state in
            let isSuspect = state.add(name, answer)
            guard state.workers < workerLimit,
                !isSuspect || state.workersOnSuspects < state.suspectLimit
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

    /// Drops a name, whose answer then never comes; false when a thread has already taken it.
    func forget(_ name: String) -> Bool {
        state.withLock { $0.forget(name) }
    }

    /// Drops the names that no thread has taken yet; their answers never come.
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
        let unanswered = state.withLock { state in
            state.workers -= 1
            guard state.workers == 0 else { return [] as [Answer] }
            defer { for name in Array(state.waiting.keys) { _ = state.forget(name) } }
            return state.waiting.values.map(\.answer)
        }
        for answer in unanswered { answer(.outOfResources("no thread for a name look-up")) }
    }
}
