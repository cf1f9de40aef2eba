// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// The client against a server that does what a test says.
        @Suite struct RedisClientTests {
            @Test func `commands are pipelined and answered in their order`() async throws {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    var held: [String] = []
                    // Nothing is answered before four commands have come.
                    while let command = peer.read() {
                        held.append(command[1])
                        guard held.count % 4 == 0 else { continue }
                        for word in held { peer.write("$\(word.utf8.count)\r\n\(word)\r\n") }
                        held = []
                    }
                }
                let client = RedisClient.make(server.endpoint)
                let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            try await client.run(RedisCommand("ECHO", "\(number)")).text
                                == "\(number)"
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count == 40 && answers.allSatisfy { $0 })
                #expect(server.connectionCount == 1)
                await client.shutDown()
            }

            @Test func `replies that come byte by byte and with pushes between are taken`()
                async throws
            {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    while peer.read() != nil {
                        for byte in ">2\r\n+a\r\n+b\r\n*2\r\n:1\r\n$3\r\nx\r\n\r\n".utf8 {
                            peer.write(String(decoding: [byte], as: UTF8.self))
                            usleep(100)
                        }
                    }
                }
                let client = RedisClient.make(server.endpoint)
                for _ in 0..<3 {
                    let reply = try await client.run(RedisCommand("X"))
                    #expect(reply == .array([.number(1), .bulk(Array("x\r\n".utf8))]))
                }
                await client.shutDown()
            }

            @Test(arguments: [
                "garbage\r\n", "$99999999\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", ":1\r\n:2\r\n",
            ])
            func `a malformed reply ends its connection, and the next works`(
                _ garbage: String
            ) async throws {
                let server = try ScriptedRedis { number, peer in
                    peer.greet()
                    _ = peer.read()
                    peer.write(number == 0 ? garbage : "+fine\r\n")
                    peer.waitForEnd()
                }
                let client = RedisClient.make(server.endpoint)
                let first = try? await client.run(RedisCommand("X"))
                #expect(first == (garbage.hasPrefix(":") ? .number(1) : nil))
                await eventually { client.status.lastFailure != nil }
                guard case .malformed = client.status.lastFailure else {
                    Issue.record("\(String(describing: client.status.lastFailure))")
                    return
                }
                #expect(try await client.run(RedisCommand("X")) == .simple("fine"))
                await client.shutDown()
            }

            @Test func `a connection that closes amid a reply fails its command, and is made anew`()
                async throws
            {
                let server = try ScriptedRedis { number, peer in
                    peer.greet()
                    _ = peer.read()
                    guard number > 0 else { return peer.write("$10\r\nabc") }
                    peer.write("+fine\r\n")
                    peer.waitForEnd()
                }
                let client = RedisClient.make(server.endpoint)
                await #expect(throws: RedisError.lost(.closed)) {
                    try await client.run(RedisCommand("X"))
                }
                #expect(try await client.run(RedisCommand("X")) == .simple("fine"))
                await client.shutDown()
            }

            @Test func `a server that accepts and says nothing counts as gone`() async throws {
                let server = try ScriptedRedis { _, peer in peer.waitForEnd() }
                let client = RedisClient.make(server.endpoint, patience: .milliseconds(50))
                await #expect(throws: RedisError.self) { try await client.run(RedisCommand("X")) }
                await eventually { client.status.lastFailure == .silent }
                await eventually { server.connectionCount > 1 }
                await client.shutDown()
            }

            @Test
            func `a server that greets and then says nothing fails the command after its patience`()
                async throws
            {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    while let words = peer.read() {
                        if words == ["PING"] { peer.write("+PONG\r\n") }
                    }
                }
                let client = RedisClient.make(server.endpoint, patience: .seconds(2))
                // However long the greeting takes.
                while (try? await client.run(RedisCommand("PING"))) == nil {
                    try Task.checkCancellation()
                }
                await #expect(throws: RedisError.silent) { try await client.run(RedisCommand("X")) }
                await client.shutDown()
            }

            @Test
            func `the next endpoint is used when the first is missing and the second is a replica`()
                async throws
            {
                let replica = try ScriptedRedis { _, peer in
                    peer.greet(role: "slave")
                    peer.waitForEnd()
                }
                let master = try ScriptedRedis { _, peer in
                    peer.greet()
                    while peer.read() != nil { peer.write("+fine\r\n") }
                }
                let client = RedisClient.make(
                    try RedisEndpoint("unix:///nowhere/s"), replica.endpoint, master.endpoint)
                #expect(try await client.run(RedisCommand("X")) == .simple("fine"))
                #expect(client.status.endpoint == master.endpoint)
                #expect(client.status.lastFailure == .notMaster(role: "slave"))
                await client.shutDown()
            }

            @Test func `the password is asked for on each connection`() async throws {
                let greetings = Locked<[[String]]>([])
                let server = try ScriptedRedis { _, peer in
                    let hello = peer.greet() ?? []
                    greetings.withLock { $0.append(hello) }
                    if peer.read() != nil { peer.write("+fine\r\n") }
                }
                let passwords = Locked(0)
                var configuration = RedisConfiguration(endpoints: [server.endpoint])
                configuration.patience = .seconds(60)
                configuration.user = "u"
                configuration.password = { "p\(passwords.add(1))" }
                let client = RedisClient(configuration)
                // The server closes after each answer, which the client may notice with its command.
                while greetings.withLock({ $0.count }) < 2 {
                    _ = try? await client.run(RedisCommand("X"))
                }
                let expected = ["p1", "p2"].map {
                    ["HELLO", "3", "AUTH", "u", $0, "SETNAME", "dataloading"]
                }
                #expect(Array(greetings.withLock { $0 }.prefix(2)) == expected)
                #expect("\(configuration)" == "Redis at \(server.endpoint)")
                await client.shutDown()
            }

            @Test func `a password that cannot be read fails the command`() async throws {
                struct Unreadable: Error {}
                let server = try ScriptedRedis { _, peer in peer.waitForEnd() }
                var configuration = RedisConfiguration(endpoints: [server.endpoint])
                configuration.password = { throw Unreadable() }
                let client = RedisClient(configuration)
                // The thread of the client may begin later than the patience of a command ends.
                _ = try? await client.run(RedisCommand("X"))
                await eventually { client.status.lastFailure != nil }
                await #expect(throws: RedisError.notSent(.password)) {
                    try await client.run(RedisCommand("X"))
                }
                #expect(server.connectionCount == 0)
                await client.shutDown()
            }
        }
    }
#endif
