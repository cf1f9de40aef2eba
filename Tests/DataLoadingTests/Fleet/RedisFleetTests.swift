// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Testing

    extension SocketTests {
        /// Members of a fleet that share through a real server.
        @Suite(.enabled(if: RedisServer.isInstalled)) struct RedisFleetTests {
            private let key = QuotaKey(scheme: "https", host: "api.test", port: 443)

            private func fleet(_ redis: RedisServer, namespace: String = "feeds") throws
                -> RedisFleet
            {
                var configuration = RedisFleet.Configuration(
                    endpoints: [redis.endpoint], namespace: namespace)
                // The machine may be busy: what is tested is not how long an answer takes.
                configuration.patience = .seconds(60)
                return RedisFleet(configuration)
            }

            private func request(
                _ count: Int, rate: Double = 1, burst: Int = 1, wait: Duration? = nil
            ) -> QuotaRequest {
                QuotaRequest(
                    key: key, requestsPerSecond: rate, burst: burst, count: count,
                    longestWait: wait, knownLead: .zero)
            }

            @Test func `two members get different slots, one after the other`() async throws {
                let redis = try RedisServer()
                let (one, two) = (try fleet(redis), try fleet(redis))
                // A busy machine may take seconds from one question to the next.
                let first = try await one.lease(request(1, rate: 0.01))
                #expect(first.count == 1)
                #expect(first.firstStart <= .zero)
                #expect(first.interval == .seconds(100))
                let second = try await two.lease(request(1, rate: 0.01))
                #expect(second.count == 1)
                #expect(second.firstStart > .zero && second.firstStart <= .seconds(100))
                #expect(second.lead > .seconds(100))
                // No load waits that long, so that nothing is taken.
                let none = try await one.lease(request(1, rate: 0.01, wait: .milliseconds(1)))
                #expect(none.count == 0)
                #expect(none.firstStart > .seconds(100) && none.firstStart <= .seconds(200))
                let measured: any MeasuredQuotaProvider = one
                let kind = StoreOperations.Kind(
                    command: "EVALSHA", script: "lease", server: redis.endpoint.server)
                #expect(measured.storeOperations.series[kind]?.counts.reduce(0, +) == 2)
                await one.shutDown()
                await two.shutDown()
            }

            @Test func `a burst is given at once, and other namespaces have lines of their own`()
                async throws
            {
                let redis = try RedisServer()
                let (one, other) = (try fleet(redis), try fleet(redis, namespace: "staging"))
                let lease = try await one.lease(request(10, burst: 5))
                #expect(lease.count == 5)
                #expect(lease.firstStart == .seconds(-4))
                #expect(try await other.lease(request(10, burst: 5)).count == 5)
                await one.shutDown()
                await other.shutDown()
            }

            @Test func `a key that one closes is closed for all, and told with heartbeats`()
                async throws
            {
                let redis = try RedisServer()
                let (one, two) = (try fleet(redis), try fleet(redis))
                try await one.close(key, for: .seconds(100))
                try await one.close(key, for: .seconds(50))
                let lease = try await two.lease(request(1))
                #expect(lease.gate > .seconds(40) && lease.gate <= .seconds(100))
                #expect(lease.firstStart > .seconds(40))
                let view = try await two.heartbeat()
                #expect(Array(view.gates.keys) == [key])
                #expect(view.gates.values.allSatisfy { $0 > .seconds(40) && $0 <= .seconds(100) })
                await one.shutDown()
                await two.shutDown()
            }

            @Test func `members are counted from their first heartbeat to their goodbye`()
                async throws
            {
                let redis = try RedisServer()
                let (one, two) = (try fleet(redis), try fleet(redis))
                #expect(try await one.heartbeat() == FleetView(present: 1, known: 1))
                #expect(try await two.heartbeat().known == 2)
                // On a busy machine the other one may be too late to count as present.
                while try await two.heartbeat().present != 2 { _ = try await one.heartbeat() }
                #expect(try await one.heartbeat().known == 2)
                #expect(one.status.members == 2)
                #expect(one.status.connection == .ready)
                await two.shutDown()
                #expect(try await one.heartbeat().known == 1)
                await one.shutDown()
                await #expect(throws: RedisError.self) { try await one.heartbeat() }
            }

            @Test
            func `a heartbeat that waited in a server that stood still counts nobody as present`()
                async throws
            {
                let redis = try RedisServer()
                let client = RedisClient.make(redis.endpoint)
                let keys = FleetKeys(namespace: "feeds")
                func heartbeat(asked: Int64) async throws -> FleetPulse {
                    try FleetPulse(
                        try await client.run(
                            .heartbeat, keys: [keys.members, keys.departures, keys.gates],
                            arguments: ["one", "\(asked)"]))
                }
                let now = try await heartbeat(asked: 1).time
                #expect(try await heartbeat(asked: now - 600_000).counts.known == 0)
                #expect(try await heartbeat(asked: 0).counts.present == 1)
                #expect(try await heartbeat(asked: .max).counts.known == 1)
                await client.shutDown()
            }

            @Test func `a server that was emptied makes nobody forget the others`() async throws {
                let redis = try RedisServer()
                let (one, two) = (try fleet(redis), try fleet(redis))
                _ = try await two.heartbeat()
                _ = try await one.heartbeat()
                let client = RedisClient.make(redis.endpoint)
                _ = try await client.run(RedisCommand("FLUSHALL"))
                _ = try await client.run(RedisCommand("SCRIPT", "FLUSH"))
                let view = try await one.heartbeat()
                #expect(view.known == 2)
                // What a member knows of a line restores it.
                var request = request(1)
                request.knownLead = .milliseconds(1_500)
                let lease = try await two.lease(request)
                #expect(lease.firstStart > .milliseconds(1_400))
                await one.shutDown()
                await two.shutDown()
            }

            @Test func `everything that is kept expires`() async throws {
                let redis = try RedisServer()
                let fleet = try fleet(redis)
                _ = try await fleet.lease(request(1))
                try await fleet.close(key, for: .seconds(60))
                _ = try await fleet.heartbeat()
                let client = RedisClient.make(redis.endpoint)
                let names = try #require(
                    await client.run(RedisCommand("KEYS", "*")).elements?.compactMap(\.text))
                #expect(names.count == 4)
                for name in names {
                    let rest = try #require(await client.run(RedisCommand("PTTL", name)).number)
                    #expect(rest > 0 && rest <= 120_000)
                    #expect(name.hasPrefix("dl:{"))
                }
                await fleet.shutDown()
                await client.shutDown()
            }

            @Test func `a configuration shows neither user nor password`() throws {
                var configuration = RedisFleet.Configuration(
                    endpoints: [try RedisEndpoint("redis://redis.test")], namespace: "feeds")
                configuration.user = "secret-user"
                configuration.password = { "secret-password" }
                #expect("\(configuration)" == "Redis at redis://redis.test:6379 for \"feeds\"")
                #expect(!String(reflecting: configuration).contains("secret"))
                var dumped = ""
                dump(configuration, to: &dumped)
                #expect(!dumped.contains("secret"))
            }
        }
    }
#endif
