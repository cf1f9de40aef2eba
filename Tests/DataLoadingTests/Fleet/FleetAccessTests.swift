// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingAuth
    import DataLoadingFleet
    import Foundation
    import Testing

    extension SocketTests {
        /// The access list of the article about shared rates.
        @Suite(.enabled(if: RedisServer.isInstalled)) struct FleetAccessTests {
            private let key = QuotaKey(scheme: "https", host: "api.test", port: 443)

            /// The user of the article, with a password and perhaps further commands.
            private func server(_ further: [String] = []) throws -> RedisServer {
                let article = "Sources/DataLoading/DataLoading.docc/SharingRates.md"
                let lines = try SourceTree().lines(of: article)
                let rule = lines.drop { !$0.hasPrefix("user dataloading ") }.prefix { $0 != "```" }
                let words = rule.flatMap { $0.split(separator: " ").map(String.init) }
                try #require(words.count > 20)
                return try RedisServer(
                    ["--user"] + words.dropFirst().map { $0 == ">…" ? ">right" : $0 } + further)
            }

            private func fleet(_ redis: RedisServer) -> RedisFleet {
                var configuration = RedisFleet.Configuration(
                    endpoints: [redis.endpoint], namespace: "feeds")
                configuration.patience = .seconds(60)
                configuration.user = "dataloading"
                configuration.password = { "right" }
                return RedisFleet(configuration)
            }

            @Test func `the user of the article may do all that a fleet does`() async throws {
                let redis = try server()
                let fleet = fleet(redis)
                let request = QuotaRequest(
                    key: key, requestsPerSecond: 10, burst: 2, count: 1, longestWait: nil,
                    knownLead: .zero)
                #expect(try await fleet.lease(request).count == 1)
                // Two, so that a second gate finds the first.
                try await fleet.close(key, for: .milliseconds(1))
                try await fleet.close(key, for: .milliseconds(1))
                #expect(try await fleet.lease(request).count == 1)
                // The one gate is over, the other is not.
                try await fleet.close(
                    QuotaKey(scheme: "https", host: "b.test", port: 443), for: .seconds(60))
                let view = try await fleet.heartbeat()
                #expect(view.present == 1)
                #expect(view.gates.keys.contains { $0.host == "b.test" })
                await fleet.shutDown()
                // A goodbye that was refused would leave a member.
                let next = self.fleet(redis)
                #expect(try await next.heartbeat().known == 1)
                await next.shutDown()
            }

            @Test func `credentials need two commands more`() async throws {
                let (redis, other) = (try server(["+set", "+del"]), try server())
                let allowed = fleet(redis)
                let store = allowed.makeCredentialStore(name: "login")
                #expect(try await store.load() == nil)
                try await store.update { _ in
                    OAuthCredentials(accessToken: "a", refreshToken: "r", received: .now)
                }
                #expect(try await store.load()?.accessToken == "a")
                try await store.update { _ in nil }
                #expect(try await store.load() == nil)
                await allowed.shutDown()
                let refused = fleet(other)
                await #expect(throws: AuthorisationError.self) {
                    try await refused.makeCredentialStore(name: "login").update { _ in nil }
                }
                await refused.shutDown()
                withExtendedLifetime((redis, other)) {}
            }
        }
    }
#endif
