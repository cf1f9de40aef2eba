// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    @testable import DataLoadingAuth
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Stores of credentials whose server is away.
        @Suite(.enabled(if: RedisServer.isInstalled), .timeLimit(.minutes(30)))
        struct RedisCredentialLossTests {
            private let bed: CredentialBed

            init() throws {
                bed = try CredentialBed()
            }

            /// The reason of the store's error.
            private func failure(_ body: () async throws -> Void) async throws -> String {
                do {
                    try await body()
                } catch AuthorisationError.store(let reason) {
                    return reason
                }
                return "no error"
            }

            @Test func `a server that is away is an error, and nothing is done without the lock`()
                async throws
            {
                let store = bed.makeStore(through: bed.impatientClient())
                bed.redis.kill()
                let reading = try await failure { _ = try await store.load() }
                #expect(reading.hasPrefix("the command was not sent in time"))
                let updating = try await failure {
                    try await store.withLock { Issue.record("called") }
                }
                #expect(updating.hasPrefix("the command was not sent in time"))
                let leaving = try await failure {
                    try await store.updateForLogOut { _ in
                        Issue.record("called")
                        return nil
                    }
                }
                #expect(leaving.hasPrefix("the command was not sent in time"))
            }

            @Test func `a lock that a stopped server gives too late is given back`() async throws {
                let store = bed.makeStore(through: bed.impatientClient()) {
                    $0.retry = .milliseconds(20)
                }
                // So that the question can be sent, and its script is known.
                try await store.withLock {}
                let before = try await bed.run("GET", bed.count)
                bed.redis.signal(SIGSTOP)
                let updating = try await failure {
                    try await store.withLock { Issue.record("called") }
                }
                #expect(!updating.isEmpty)
                bed.redis.signal(SIGCONT)
                // The server reads the question for the lock, and the one that lets it go.
                try await bed.until("GET", bed.count) { $0 != before }
                try await bed.until("EXISTS", bed.lock) { $0 == .number(0) }
            }

            @Test func `a reading waits for a server that starts anew`() async throws {
                let client = bed.impatientClient()
                let store = bed.makeStore(through: client) { $0.absence = .seconds(1_800) }
                bed.redis.kill()
                let reading = Task { try await store.load() }
                await eventually { client.status.lastFailure != nil }
                try bed.redis.start()
                #expect(try await reading.value == nil)
            }

            @Test func `an update waits for a server that starts anew`() async throws {
                let client = bed.impatientClient()
                let store = bed.makeStore(through: client) { $0.absence = .seconds(1_800) }
                bed.redis.kill()
                let update = Task { try await store.save(CredentialBed.credentials()) }
                await eventually { client.status.lastFailure != nil }
                try bed.redis.start()
                try await update.value
                #expect(try await bed.makeStore().load() == CredentialBed.credentials())
            }

            @Test func `new credentials are written once a server takes writes again`() async throws
            {
                let store = bed.makeStore { $0.writing = .seconds(1_800) }
                let update = Task {
                    try await store.update { _ in
                        try await bed.run("REPLICAOF", "127.0.0.1", "1")
                        return CredentialBed.credentials()
                    }
                }
                while try await bed.run("INFO", "errorstats").text?.contains("READONLY") != true {
                    await Task.yield()
                }
                try await bed.run("REPLICAOF", "NO", "ONE")
                try await update.value
                #expect(try await bed.makeStore().load() == CredentialBed.credentials())
            }

            @Test
            func `new credentials are written once the server is back, also if it was emptied`()
                async throws
            {
                let client = bed.impatientClient()
                let store = bed.makeStore(through: client) {
                    $0.absence = .seconds(1_800)
                    $0.writing = .seconds(1_800)
                }
                for _ in 0..<5 { try await bed.makeStore().withLock {} }
                let isAway = Locked(false)
                let update = Task {
                    try await store.update { _ in
                        bed.redis.kill()
                        isAway.withLock { $0 = true }
                        return CredentialBed.credentials()
                    }
                }
                await eventually { isAway.withLock { $0 } && client.status.connection != .ready }
                try bed.redis.start()
                try await update.value
                let other = bed.makeStore()
                #expect(try await other.load() == CredentialBed.credentials())
                // The server that knows of no lock continues where the other one was.
                try await other.save(CredentialBed.credentials("b"))
                #expect(try await other.load() == CredentialBed.credentials("b"))
            }

            @Test func `what is done under a lock goes on when nobody knows whether it is kept`()
                async throws
            {
                let client = bed.impatientClient()
                let store = bed.makeStore(through: client) {
                    $0.renewal = .milliseconds(10)
                    $0.retry = .milliseconds(10)
                    $0.absence = .seconds(1_800)
                    $0.writing = .seconds(1_800)
                }
                try await store.update { _ in
                    bed.redis.kill()
                    await eventually { client.status.lastFailure != nil }
                    try Task.checkCancellation()
                    try bed.redis.start()
                    return CredentialBed.credentials()
                }
                #expect(try await bed.makeStore().load() == CredentialBed.credentials())
            }

            @Test func `a stopped server is an error after the client's patience`() async throws {
                let store = bed.makeStore(through: bed.impatientClient())
                bed.redis.signal(SIGSTOP)
                let reason = try await failure { _ = try await store.load() }
                #expect(reason.hasPrefix("the "))
                bed.redis.signal(SIGCONT)
            }
        }
    }
#endif
