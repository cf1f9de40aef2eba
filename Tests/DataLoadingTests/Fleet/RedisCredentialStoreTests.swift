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
        /// What is stored, and what becomes of content that cannot be read, in a real server.
        @Suite(.enabled(if: RedisServer.isInstalled), .timeLimit(.minutes(30)))
        struct RedisCredentialStoreTests {
            private let bed: CredentialBed

            init() throws {
                bed = try CredentialBed()
            }

            @Test func `credentials are stored for all daemons, replaced and deleted`() async throws
            {
                let (one, two) = (bed.makeStore(), bed.makeStore())
                #expect(try await one.load() == nil)
                try await one.save(CredentialBed.credentials())
                #expect(try await two.load() == CredentialBed.credentials())
                try await two.save(CredentialBed.credentials("b"))
                #expect(try await one.load() == CredentialBed.credentials("b"))
                // Credentials do not expire; what a log-out leaves does.
                #expect(try await bed.run("PTTL", bed.value).number == -1)
                try await one.save(nil)
                #expect(try await two.load() == nil)
                try await two.save(nil)
                for key in [bed.value, bed.count] {
                    let rest = try #require(try await bed.run("PTTL", key).number)
                    #expect(rest > 0 && rest <= 3_600_000)
                }
                #expect(try await bed.run("EXISTS", bed.lock) == .number(0))
            }

            @Test
            func `stores of one name are one, and those of another name or namespace are not`()
                async throws
            {
                func makeFleet(_ namespace: String) -> RedisFleet {
                    var configuration = RedisFleet.Configuration(
                        endpoints: [bed.redis.endpoint], namespace: namespace)
                    configuration.patience = .seconds(60)
                    return RedisFleet(configuration)
                }
                let (fleet, other) = (makeFleet("feeds"), makeFleet("staging"))
                try await bed.makeStore().save(CredentialBed.credentials())
                let stored = try await fleet.makeCredentialStore(name: "login").load()
                #expect(stored == CredentialBed.credentials())
                #expect(try await fleet.makeCredentialStore(name: "another").load() == nil)
                #expect(try await other.makeCredentialStore(name: "login").load() == nil)
                await fleet.shutDown()
                await other.shutDown()
                let end = AuthorisationError.store(reason: "the client was shut down")
                await #expect(throws: end) {
                    try await fleet.makeCredentialStore(name: "login").load()
                }
            }

            @Test func `an update that changes nothing writes nothing`() async throws {
                let store = bed.makeStore()
                try await store.save(CredentialBed.credentials())
                try await bed.run("HSET", bed.value, "mark", "there")
                try await store.withLock {}
                try await store.save(CredentialBed.credentials())
                #expect(try await bed.run("HGET", bed.value, "mark").text == "there")
            }

            @Test func `an update that throws leaves what is stored, and the lock free`()
                async throws
            {
                let store = bed.makeStore()
                try await store.save(CredentialBed.credentials())
                await #expect(throws: TestFailure.self) {
                    try await store.update { _ in throw TestFailure() }
                }
                #expect(try await store.load() == CredentialBed.credentials())
                #expect(try await bed.run("EXISTS", bed.lock) == .number(0))
            }

            @Test func `the server sees only what a seal makes of credentials`() async throws {
                let (one, two) = (
                    bed.makeStore(sealing: CredentialBed.seal(1)),
                    bed.makeStore(sealing: CredentialBed.seal(1))
                )
                try await one.save(CredentialBed.credentials())
                #expect(try await two.load() == CredentialBed.credentials())
                let text = try #require(try await bed.text())
                let bytes = try #require(Data(base64Encoded: text))
                #expect(bytes.first == 1)
                #expect(!String(decoding: bytes, as: UTF8.self).contains("refresh"))
            }

            @Test func `a seal that fails leaves what is stored`() async throws {
                let seal = CredentialSeal { _ in
                    throw TestFailure()
                } open: { _ in
                    try JSONEncoder().encode(CredentialBed.credentials())
                }
                let store = bed.makeStore(sealing: seal)
                let failure = AuthorisationError.store(reason: "the credentials cannot be sealed")
                try await bed.run("HSET", bed.value, "value", "AAAA")
                await #expect(throws: failure) {
                    try await store.save(CredentialBed.credentials("b"))
                }
                #expect(try await bed.text() == "AAAA")
                #expect(try await bed.run("EXISTS", bed.lock) == .number(0))
            }

            @Test(
                arguments: [
                    ("{}", nil, "the credentials are broken"),
                    ("", nil, "the credentials are broken"),
                    ("null", nil, "the credentials are broken"),
                    ("AWFi", nil, "the credentials are broken"),
                    ("{}", 1, "the credentials are not sealed"),
                    ("AmFi", 1, "the seal does not open the credentials"),
                    ("", 1, "the seal does not open the credentials"),
                    ("AWFi", 1, "the credentials are broken"),
                ] as [(String, UInt8?, String)])
            func `what cannot be read is an error, and a log-out deletes it`(
                _ text: String, _ key: UInt8?, _ reason: String
            ) async throws {
                let store = bed.makeStore(sealing: key.map(CredentialBed.seal))
                try await bed.run("HSET", bed.value, "value", text)
                let failure = AuthorisationError.store(reason: reason)
                await #expect(throws: failure) { try await store.load() }
                await #expect(throws: failure) {
                    try await store.update { _ in
                        Issue.record("called")
                        return nil
                    }
                }
                await #expect(throws: TestFailure.self) {
                    try await store.updateForLogOut { _ in throw TestFailure() }
                }
                #expect(try await bed.text() == text)
                try await store.updateForLogOut { present in
                    #expect(present == nil)
                    return nil
                }
                #expect(try await bed.text() == nil)
                #expect(try await store.load() == nil)
            }

            @Test func `a log-out deletes what can be read too`() async throws {
                let store = bed.makeStore(sealing: CredentialBed.seal(7))
                try await store.save(CredentialBed.credentials())
                try await store.updateForLogOut { present in
                    #expect(present == CredentialBed.credentials())
                    return nil
                }
                #expect(try await bed.text() == nil)
            }

            @Test func `a key of another type is an error and not an absence`() async throws {
                try await bed.run("SET", bed.value, "text")
                let failure = AuthorisationError.store(
                    reason: "the server refused the command: WRONGTYPE")
                await #expect(throws: failure) { try await bed.makeStore().load() }
                await #expect(throws: AuthorisationError.self) {
                    try await bed.makeStore().withLock {}
                }
            }

            @Test func `credentials that are too large are an error`() async throws {
                let store = bed.makeStore()
                try await store.save(CredentialBed.credentials())
                var large = CredentialBed.credentials()
                large.idToken = String(repeating: "x", count: 70_000)
                let failure = AuthorisationError.store(reason: "the command is too large")
                await #expect(throws: failure) { try await store.save(large) }
                #expect(try await store.load() == CredentialBed.credentials())
            }

            @Test func `an owner that takes its lock twice keeps its number`() async throws {
                func take(_ owner: String) async throws -> Int64? {
                    try await bed.client.run(
                        .takeLock, keys: bed.keys, arguments: [owner, "60000"]
                    ).number
                }
                let first = try #require(try await take("a"))
                #expect(first > 0)
                #expect(try await take("a") == first)
                #expect(try await take("b") == 0)
                _ = try await bed.client.run(.releaseLock, keys: bed.keys, arguments: ["a"])
                #expect(try #require(try await take("b")) > first)
            }

            @Test func `the digests of the scripts are those that the server computes`()
                async throws
            {
                let scripts: [RedisScript] = [
                    .takeLock, .renewLock, .releaseLock, .saveCredentials,
                ]
                for script in scripts {
                    let digest = try await bed.run("SCRIPT", "LOAD", script.source).text
                    #expect(digest == script.digest)
                }
            }

            @Test func `a store needs no more than the documentation's access list`() async throws {
                let rule =
                    "on >right resetkeys ~dl:* resetchannels -@all +hello +auth +ping +role +eval "
                    + "+evalsha +script|load +time +hmget +hset +hgetall +zadd +zcard +zcount "
                    + "+zremrangebyscore +pexpire +set +get +incr +del"
                try await bed.run(
                    ["ACL", "SETUSER", "daemon"] + rule.split(separator: " ").map(String.init))
                var configuration = RedisConfiguration(endpoints: [bed.redis.endpoint])
                configuration.user = "daemon"
                configuration.password = { "right" }
                configuration.patience = .seconds(60)
                var times = LockTimes()
                times.renewal = .milliseconds(1)
                let store = RedisCredentialStore(
                    RedisClient(configuration), keys: bed.keys, sealing: nil, SystemTimekeeper(),
                    .system, times: times)
                try await store.save(CredentialBed.credentials())
                try await store.update { present in
                    #expect(present == CredentialBed.credentials())
                    try await bed.run("PEXPIRE", bed.lock, "900000")
                    try await bed.until("PTTL", bed.lock) { ($0.number ?? 0) <= 60_000 }
                    return nil
                }
                #expect(try await store.load() == nil)
                #expect(try await bed.run("EXISTS", bed.lock) == .number(0))
            }
        }
    }
#endif
