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

    /// A server, and stores of credentials as daemons would have them: each with its own connection.
    struct CredentialBed {
        let redis: RedisServer
        /// The test's own connection.
        let client: RedisClient
        let keys = FleetKeys(namespace: "feeds").credentials("login")

        var value: String { keys[0] }
        var lock: String { keys[1] }
        var count: String { keys[2] }

        init() throws {
            self.init(try RedisServer())
        }

        init(_ redis: RedisServer) {
            self.redis = redis
            client = RedisClient.make(redis.endpoint)
        }

        /// Makes a store with a connection of its own, or through that of a client.
        func makeStore(
            through client: RedisClient? = nil, sealing seal: CredentialSeal? = nil,
            _ change: (inout LockTimes) -> Void = { _ in }
        ) -> RedisCredentialStore {
            var times = LockTimes()
            // A busy machine is no reason to give up.
            times.trust = .seconds(1_800)
            times.wait = .seconds(1_800)
            times.absence = .zero
            change(&times)
            return RedisCredentialStore(
                client ?? RedisClient.make(redis.endpoint), keys: keys, sealing: seal,
                SystemTimekeeper(), .system, times: times)
        }

        /// A client that gives up early.
        func impatientClient() -> RedisClient {
            RedisClient.make(redis.endpoint, patience: .milliseconds(100))
        }

        @discardableResult func run(_ words: [String]) async throws -> RESPValue {
            try await client.run(RedisCommand(words: words))
        }

        @discardableResult func run(_ words: String...) async throws -> RESPValue {
            try await run(words)
        }

        /// What the server has as the credentials' text.
        func text() async throws -> String? { try await run("HGET", value, "value").text }

        /// Returns once the server answers what is looked for.
        func until(
            _ words: String..., is condition: (RESPValue) -> Bool
        ) async throws {
            while !condition(try await run(words)) {}
        }

        /// Credentials with a name.
        static func credentials(_ name: String = "a") -> OAuthCredentials {
            OAuthCredentials(
                accessToken: "access-\(name)", refreshToken: "refresh-\(name)", scope: "s",
                lifetime: .seconds(60), received: Date(timeIntervalSince1970: 1_767_225_600.25))
        }

        /// A seal that turns bits over and remembers by whom; it hides nothing.
        static func seal(_ key: UInt8) -> CredentialSeal {
            CredentialSeal { data in
                Data([key]) + data.map { $0 ^ key }
            } open: { data in
                guard data.first == key else { throw TestFailure() }
                return Data(data.dropFirst().map { $0 ^ key })
            }
        }
    }
#endif
