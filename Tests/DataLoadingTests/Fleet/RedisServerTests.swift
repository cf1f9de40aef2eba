// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// The client against a real server.
        @Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
        struct RedisServerTests {
            private static func client(
                _ endpoints: RedisEndpoint..., patience limit: Duration = .seconds(60),
                _ change: (inout RedisConfiguration) -> Void = { _ in }
            ) -> RedisClient {
                var configuration = RedisConfiguration(endpoints: endpoints)
                configuration.patience = limit
                configuration.connectLimit = .seconds(60)
                change(&configuration)
                return RedisClient(configuration)
            }

            /// Runs a command until it is answered; the last error otherwise.
            private static func retried(
                _ client: RedisClient, _ command: RedisCommand = RedisCommand("PING")
            ) async throws -> RESPValue {
                let end = ContinuousClock.now + .seconds(60)
                while true {
                    do {
                        return try await client.run(command)
                    } catch {
                        guard ContinuousClock.now < end else { throw error }
                        await Task.yield()
                    }
                }
            }

            /// Sends a command to a server of any role, and waits for its answer.
            private static func tell(_ server: RedisServer, _ command: RedisCommand) throws {
                var configuration = RedisConfiguration(endpoints: [server.endpoint])
                configuration.connectLimit = .seconds(60)
                let stream = try RedisStream(to: server.endpoint, configuration)
                _ = try stream.send(command.encoded)
                while try stream.receive().isEmpty { usleep(1_000) }
            }

            @Test func `the server answers values of each type`() async throws {
                let server = try RedisServer()
                let client = Self.client(server.endpoint)
                #expect(try await client.run(RedisCommand("PING")) == .simple("PONG"))
                #expect(try await client.run(RedisCommand("GET", "k")) == .null)
                #expect(try await client.run(RedisCommand("INCR", "k")) == .number(1))
                #expect(try await client.run(RedisCommand("GET", "k")) == .bulk([0x31]))
                _ = try await client.run(RedisCommand("HSET", "h", "f", "v"))
                let pair = RESPValue.Pair(key: .bulk([0x66]), value: .bulk([0x76]))
                #expect(try await client.run(RedisCommand("HGETALL", "h")) == .map([pair]))
                _ = try await client.run(RedisCommand("ZADD", "z", "1.5", "m"))
                #expect(try await client.run(RedisCommand("ZSCORE", "z", "m")) == .double(1.5))
                #expect(
                    try await client.run(RedisCommand("CLIENT", "GETNAME")).text == "dataloading")
                await #expect(throws: RedisError.self) {
                    try await client.run(RedisCommand("NONE"))
                }
                await client.shutDown()
            }

            @Test func `a script is run again after the server has forgotten all scripts`()
                async throws
            {
                let server = try RedisServer()
                let client = Self.client(server.endpoint)
                let script = RedisScript(
                    "count", "return {redis.call('INCR', KEYS[1]), ARGV[1]}",
                    digest: "4d48ef92b96c89f6a4b501f22746c23532f884c5")
                for count in 1...3 {
                    let reply = try await client.run(script, keys: ["k"], arguments: ["a"])
                    #expect(reply == .array([.number(Int64(count)), .bulk([0x61])]))
                    _ = try await client.run(RedisCommand("SCRIPT", "FLUSH"))
                }
                let loaded = try await client.run(RedisCommand("SCRIPT", "LOAD", script.source))
                #expect(loaded.text == script.digest)
                await client.shutDown()
            }

            @Test func `commands are measured by what they do, their server and their error`()
                async throws
            {
                let server = try RedisServer()
                let client = Self.client(server.endpoint)
                for _ in 0..<3 {
                    _ = try await client.run(
                        .goodbye, keys: ["members", "departures"], arguments: ["a"])
                }
                _ = try await client.run(RedisCommand("ECHO", "x"))
                await #expect(throws: RedisError.self) { try await client.run(RedisCommand("NO")) }
                await client.shutDown()
                await #expect(throws: RedisError.shutDown) {
                    try await client.run(RedisCommand("ECHO", "x"))
                }
                func count(
                    _ command: String, script: String? = nil, isSent: Bool = true,
                    error: String? = nil
                ) -> Int64? {
                    let kind = StoreOperations.Kind(
                        command: command, script: script,
                        server: isSent ? server.endpoint.server : nil, error: error)
                    return client.operations.series[kind]?.counts.reduce(0, +)
                }
                #expect(count("EVALSHA", script: "goodbye") == 3)
                #expect(count("ECHO") == 1)
                #expect(count("NO", error: "refused") == 1)
                #expect(count("ECHO", isSent: false, error: "shutDown") == 1)
                #expect(client.operations.series.count == 4)
                for (kind, durations) in client.operations.series where kind.server != nil {
                    #expect(durations.sum > 0)
                }
            }

            @Test func `a thousand commands of many tasks are answered each with its own`()
                async throws
            {
                let server = try RedisServer()
                let client = Self.client(server.endpoint) { $0.maxWaiting = 1_000 }
                let wrong = await withTaskGroup(of: Int.self) { group in
                    for number in 0..<1_000 {
                        group.addTask {
                            let reply = try? await client.run(RedisCommand("ECHO", "\(number)"))
                            return reply?.text == "\(number)" ? 0 : 1
                        }
                    }
                    return await group.reduce(0, +)
                }
                #expect(wrong == 0)
                await client.shutDown()
            }

            @Test func `a wrong password is refused without its text`() async throws {
                let server = try RedisServer(["--requirepass", "right"])
                let wrong = Self.client(server.endpoint, patience: .seconds(2)) {
                    $0.password = { "secret" }
                }
                do {
                    _ = try await wrong.run(RedisCommand("PING"))
                    Issue.record("no error")
                } catch let RedisError.notSent(.refused(error)) {
                    #expect(error.code == "WRONGPASS")
                    #expect(!"\(error)".contains("secret"))
                }
                await wrong.shutDown()
                let right = Self.client(server.endpoint) { $0.password = { "right" } }
                #expect(try await right.run(RedisCommand("PING")) == .simple("PONG"))
                await right.shutDown()
            }

            @Test
            func `a user may do what its access list allows, and no more`()
                async throws
            {
                let rule =
                    "on >right resetkeys ~dl:* resetchannels -@all +hello +auth +ping +role +eval "
                    + "+evalsha +time +get +incr"
                let server = try RedisServer(
                    ["--user", "dataloading"] + rule.split(separator: " ").map(String.init))
                let client = Self.client(server.endpoint) { configuration in
                    configuration.user = "dataloading"
                    configuration.password = { "right" }
                }
                let script = RedisScript(
                    "count", "return redis.call('INCR', KEYS[1])",
                    digest: "61636018f4e6b5817b89791bbed242f93fa089e3")
                #expect(try await client.run(script, keys: ["dl:a"], arguments: []) == .number(1))
                for command in [RedisCommand("FLUSHALL"), RedisCommand("GET", "other")] {
                    do {
                        _ = try await client.run(command)
                        Issue.record("no error")
                    } catch let RedisError.refused(error) {
                        #expect(error.code == "NOPERM")
                    }
                }
                await client.shutDown()
            }

            @Test func `a server that is killed and started anew is used again`() async throws {
                let server = try RedisServer()
                let client = Self.client(server.endpoint, patience: .seconds(2))
                #expect(try await Self.retried(client) == .simple("PONG"))
                server.kill()
                await #expect(throws: RedisError.self) {
                    try await client.run(RedisCommand("PING"))
                }
                #expect(client.status.lastFailure != nil)
                try server.start()
                #expect(try await Self.retried(client) == .simple("PONG"))
                await client.shutDown()
            }

            @Test
            func `a stopped server fails a command after its patience and is used again later`()
                async throws
            {
                let server = try RedisServer()
                let client = Self.client(server.endpoint, patience: .milliseconds(250))
                #expect(try await Self.retried(client) == .simple("PONG"))
                server.signal(SIGSTOP)
                for _ in 0..<3 {
                    let begun = ContinuousClock.now
                    await #expect(throws: RedisError.self) {
                        try await client.run(RedisCommand("PING"))
                    }
                    #expect(ContinuousClock.now - begun >= .milliseconds(200))
                }
                #expect(client.status.lastFailure == .silent)
                server.signal(SIGCONT)
                #expect(try await Self.retried(client) == .simple("PONG"))
                await client.shutDown()
            }

            @Test func `a replica is passed over, and used once it is the master`() async throws {
                let first = try RedisServer()
                let second = try RedisServer(["--replicaof", "127.0.0.1", "1"])
                let client = Self.client(second.endpoint, first.endpoint)
                #expect(try await client.run(RedisCommand("SET", "k", "1")) == .simple("OK"))
                #expect(client.status.endpoint == first.endpoint)
                // The roles change while the client is connected.
                try Self.tell(first, RedisCommand("REPLICAOF", "127.0.0.1", "1"))
                try Self.tell(second, RedisCommand("REPLICAOF", "NO", "ONE"))
                #expect(
                    try await Self.retried(client, RedisCommand("SET", "k", "2")) == .simple("OK"))
                #expect(client.status.endpoint == second.endpoint)
                await client.shutDown()
            }
        }
    }
#endif
