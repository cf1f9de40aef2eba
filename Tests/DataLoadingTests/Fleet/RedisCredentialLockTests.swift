// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    @testable import DataLoadingAuth
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Testing

    extension SocketTests {
        /// Who may update credentials in a real server, and who may no longer.
        @Suite(.enabled(if: RedisServer.isInstalled), .timeLimit(.minutes(30)))
        struct RedisCredentialLockTests {
            private let bed: CredentialBed
            private let superseded = AuthorisationError.store(reason: "superseded")

            init() throws {
                bed = try CredentialBed()
            }

            @Test func `one store has the lock at a time`() async throws {
                let inside = Locked(0)
                let most = Locked(0)
                let count = Locked(0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        let store = bed.makeStore()
                        group.addTask {
                            for _ in 0..<3 {
                                try await store.withLock {
                                    let now = inside.add(1)
                                    most.withLock { $0 = max($0, now) }
                                    await Task.yield()
                                    count.add(1)
                                    inside.add(-1)
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(most.withLock { $0 } == 1)
                #expect(count.withLock { $0 } == 12)
                #expect(try await bed.run("EXISTS", bed.lock) == .number(0))
            }

            @Test func `the write of a holder is refused once another has had the lock`()
                async throws
            {
                let (old, new) = (bed.makeStore(), bed.makeStore())
                await #expect(throws: superseded) {
                    try await old.update { _ in
                        try await bed.run("DEL", bed.lock)
                        try await new.save(CredentialBed.credentials("new"))
                        return CredentialBed.credentials("old")
                    }
                }
                #expect(try await old.load() == CredentialBed.credentials("new"))
                // Also where the other has written nothing: a log-out stays one.
                await #expect(throws: superseded) {
                    try await old.update { _ in
                        try await bed.run("DEL", bed.lock)
                        try await new.updateForLogOut { _ in nil }
                        try await new.updateForLogOut { _ in nil }
                        return CredentialBed.credentials("old")
                    }
                }
                #expect(try await new.load() == nil)
            }

            @Test func `the write of a holder is refused though the count was lost with its lock`()
                async throws
            {
                let (old, new) = (bed.makeStore(), bed.makeStore())
                try await new.save(CredentialBed.credentials("first"))
                await #expect(throws: superseded) {
                    try await old.update { _ in
                        try await bed.run("DEL", bed.lock, bed.count)
                        try await new.updateForLogOut { _ in nil }
                        return CredentialBed.credentials("old")
                    }
                }
                #expect(try await new.load() == nil)
            }

            @Test func `no lock has the number of an earlier one though the server was emptied`()
                async throws
            {
                let script = RedisScript.takeLock
                var numbers: Set<Int64> = []
                for _ in 0..<50 {
                    // Many in a millisecond: the count may run ahead of a clock that is too coarse.
                    for _ in 0..<20 {
                        let keys = [bed.value, bed.lock, bed.count]
                        let words = ["EVAL", script.source, "3"] + keys + ["a", "60000"]
                        let number = try #require(try await bed.run(words).number)
                        #expect(numbers.insert(number).inserted)
                        // An owner that has it keeps its number.
                        try await bed.run("DEL", bed.lock)
                    }
                    try await bed.run("FLUSHALL")
                }
            }

            @Test
            func `the write of a holder is refused once the server was emptied and another came`()
                async throws
            {
                let (old, new) = (bed.makeStore(), bed.makeStore())
                for _ in 0..<5 { try await old.withLock {} }
                await #expect(throws: superseded) {
                    try await old.update { _ in
                        try await bed.run("FLUSHALL")
                        try await new.withLock {}
                        return CredentialBed.credentials("old")
                    }
                }
                try await new.save(CredentialBed.credentials("new"))
                #expect(try await old.load() == CredentialBed.credentials("new"))
            }

            @Test
            func `what a holder got is written where the lock is gone and nobody has taken it`()
                async throws
            {
                let store = bed.makeStore()
                for _ in 0..<5 { try await store.withLock {} }
                for trouble in [["DEL", bed.lock], ["FLUSHALL"], ["DEL", bed.count]] {
                    try await store.update { _ in
                        try await bed.run(trouble)
                        return CredentialBed.credentials(trouble.joined())
                    }
                    // The numbers continue, or all later writes would be refused.
                    try await bed.makeStore().save(CredentialBed.credentials("next"))
                    #expect(try await store.load() == CredentialBed.credentials("next"))
                }
            }

            /// Does something for longer than until the next renewal; throws when it is cancelled.
            private func outlastRenewals() async throws {
                for _ in 0..<200 { try await bed.run("PING") }
                try Task.checkCancellation()
            }

            @Test(arguments: [true, false])
            func `what is done under a lock goes on once the lock is deleted or another's`(
                _ isDeleted: Bool
            ) async throws {
                let store = bed.makeStore { $0.renewal = .milliseconds(1) }
                try await store.save(CredentialBed.credentials())
                try await store.update { _ in
                    try await bed.run(
                        isDeleted ? ["DEL", bed.lock] : ["SET", bed.lock, "another"])
                    try await outlastRenewals()
                    return CredentialBed.credentials("new")
                }
                // The other one has a lock without a number: it has not taken it from the store.
                #expect(try await store.load() == CredentialBed.credentials("new"))
                // It releases no other owner's lock.
                let holder = try await bed.run("GET", bed.lock).text
                #expect(holder == (isDeleted ? nil : "another"))
            }

            @Test func `a refresh of an authoriser goes on without its lock, and is written`()
                async throws
            {
                let store = bed.makeStore { $0.renewal = .milliseconds(1) }
                let timerQueue = TimerQueue(timekeeper: SystemTimekeeper())
                try await StoreUpdate.run(on: store, timerQueue) { _ in
                    try await bed.run("DEL", bed.lock)
                    try await outlastRenewals()
                    return CredentialBed.credentials("new")
                }
                #expect(try await store.load() == CredentialBed.credentials("new"))
            }

            @Test func `a lock is renewed while something is done under it`() async throws {
                let store = bed.makeStore { $0.renewal = .milliseconds(1) }
                try await store.withLock {
                    for _ in 0..<3 {
                        try await bed.run("PEXPIRE", bed.lock, "900000")
                        try await bed.until("PTTL", bed.lock) { ($0.number ?? 0) <= 60_000 }
                    }
                }
            }

            @Test func `a daemon that dies loses the lock after its life`() async throws {
                try await bed.run("SET", bed.lock, "dead", "PX", "100")
                try await bed.makeStore().save(CredentialBed.credentials())
                #expect(try await bed.text() != nil)
            }

            @Test func `a store gives up waiting for the lock, and leaves it`() async throws {
                try await bed.run("SET", bed.lock, "another")
                let store = bed.makeStore { $0.wait = .milliseconds(100) }
                let held = AuthorisationError.store(reason: "another daemon has the lock")
                await #expect(throws: held) {
                    try await store.withLock { Issue.record("called") }
                }
                #expect(try await bed.run("GET", bed.lock).text == "another")
            }

            @Test func `a caller that waits for the lock can be cancelled`() async throws {
                let store = bed.makeStore()
                try await bed.run("SET", bed.lock, "another")
                let waiting = Task { try await store.withLock { Issue.record("called") } }
                try await bed.until("INFO", "commandstats") {
                    $0.text?.contains("cmdstat_evalsha") ?? false
                }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                #expect(try await bed.run("GET", bed.lock).text == "another")
            }

            @Test func `a cancelled caller lets the lock go wherever it is`() async throws {
                let store = bed.makeStore()
                for round in 0..<40 {
                    let task = Task { try await store.withLock {} }
                    for _ in 0..<round { await Task.yield() }
                    task.cancel()
                    _ = await task.result
                    #expect(try await bed.run("EXISTS", bed.lock) == .number(0))
                }
            }

            @Test func `a caller that is cancelled after it got credentials writes them`()
                async throws
            {
                let store = bed.makeStore()
                let task = Task {
                    try await store.update { _ in
                        withUnsafeCurrentTask { $0?.cancel() }
                        return CredentialBed.credentials()
                    }
                }
                try await task.value
                #expect(try await store.load() == CredentialBed.credentials())
                let other = Locked<Task<Void, any Error>?>(nil)
                let cancelled = Task {
                    try await store.update { _ in
                        await eventually { other.withLock { $0 != nil } }
                        other.withLock { $0?.cancel() }
                        return CredentialBed.credentials("b")
                    }
                }
                other.withLock { $0 = cancelled }
                try await cancelled.value
                #expect(try await store.load() == CredentialBed.credentials("b"))
                #expect(try await bed.run("EXISTS", bed.lock) == .number(0))
            }
        }
    }
#endif
