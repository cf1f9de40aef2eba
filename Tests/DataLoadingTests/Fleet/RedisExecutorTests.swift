// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingSockets
    import DataLoadingSupport
    import DataLoadingTesting
    import Testing

    extension SocketTests {
        /// Where the tasks of those run that share rates.
        @Suite struct RedisExecutorTests {
            @Test func `tasks run on the thread of the connection, also after an answer`()
                async throws
            {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    while peer.read() != nil { peer.write("+fine\r\n") }
                }
                let client = RedisClient.make(server.endpoint)
                let before = await thread(of: client)
                _ = try await client.run(RedisCommand("X"))
                let threads = try await Task(executorPreference: client.taskExecutor) {
                    let first = NativeThread.currentNumber
                    _ = try await client.run(RedisCommand("Y"))
                    return (first, NativeThread.currentNumber)
                }.value
                #expect(threads.0 == threads.1)
                #expect(await thread(of: client) == threads.0)
                #expect(before != threads.0)
                await client.shutDown()
            }

            @Test func `tasks run elsewhere while the thread connects`() async throws {
                let server = try ScriptedRedis { number, peer in
                    guard number == 0 else { return peer.waitForEnd() }
                    peer.greet()
                    if peer.read() != nil { peer.write("+fine\r\n") }
                    _ = peer.read()
                }
                let client = RedisClient.make(server.endpoint)
                _ = try await client.run(RedisCommand("X"))
                let own = await thread(of: client)
                // The server ends the connection, and is silent in the next.
                await #expect(throws: RedisError.self) { try await client.run(RedisCommand("Y")) }
                await eventually { server.connectionCount == 2 }
                #expect(client.status.connection == .connecting)
                #expect(await thread(of: client) != own)
                await client.shutDown()
            }

            @Test func `tasks run although the client has ended`() async throws {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    if peer.read() != nil { peer.write("+fine\r\n") }
                    peer.waitForEnd()
                }
                let client = RedisClient.make(server.endpoint)
                let executor = client.taskExecutor
                _ = try await client.run(RedisCommand("X"))
                await client.shutDown()
                #expect(await Task(executorPreference: executor) { true }.value)
            }

            @Test func `every task ends while connections are lost and made again`()
                async throws
            {
                let server = try ScriptedRedis { number, peer in
                    peer.greet()
                    for _ in 0..<(number % 5) {
                        guard peer.read() != nil else { return }
                        peer.write("+fine\r\n")
                    }
                }
                let client = RedisClient.make(server.endpoint, patience: .milliseconds(200))
                let answers = await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<8 {
                        group.addTask(executorPreference: client.taskExecutor) {
                            var hasAnswer = false
                            for _ in 0..<20 {
                                let reply = try? await client.run(RedisCommand("X"))
                                hasAnswer = hasAnswer || reply == .simple("fine")
                            }
                            return hasAnswer
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.count == 8)
                #expect(answers.contains(true))
                await client.shutDown()
            }

            private func thread(of client: RedisClient) async -> Int? {
                await Task(executorPreference: client.taskExecutor) {
                    NativeThread.currentNumber
                }.value
            }
        }
    }
#endif
