// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingSockets
    import DataLoadingSupport
    import DataLoadingTesting
    import Dispatch
    import Testing

    extension SocketTests {
        /// Commands that are sent by those who ask, and what the thread of the client still does.
        @Suite struct RedisConnectionTests {
            private static let script = RedisScript("s", "return 1", digest: "0")

            @Test func `a command is sent although the thread of the client is busy`()
                async throws
            {
                let commands = Locked(0)
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    while peer.read() != nil {
                        commands.add(1)
                        peer.write("+fine\r\n")
                    }
                }
                let client = RedisClient.make(server.endpoint)
                _ = try await client.run(RedisCommand("X"))
                let isBusy = Locked(false)
                let mayEnd = DispatchSemaphore(value: 0)
                let blocker = Task(executorPreference: client.taskExecutor) {
                    isBusy.withLock { $0 = true }
                    Self.wait(for: mayEnd)
                }
                await eventually { isBusy.withLock { $0 } }
                let command = Task { try await client.run(RedisCommand("Y")) }
                await eventually { commands.withLock { $0 } == 2 }
                mayEnd.signal()
                #expect(try await command.value == .simple("fine"))
                await blocker.value
                await client.shutDown()
            }

            @Test func `what a server does not take at once is sent when it does`() async throws {
                let mayRead = DispatchSemaphore(value: 0)
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    if peer.read() != nil { peer.write("+fine\r\n") }
                    mayRead.wait()
                    // No answer wakes the client before it has sent everything.
                    let commands = (0..<16).compactMap { _ in peer.read() }
                    for command in commands { peer.write(":\(command[3].utf8.count)\r\n") }
                    peer.waitForEnd()
                }
                let client = RedisClient.make(server.endpoint)
                defer { mayRead.signal() }
                _ = try await client.run(RedisCommand("X"))
                let answers = Locked<[Int]>([])
                // 16 of them do not fit into the buffers of a socket.
                let sizes = (0..<16).map { 60_000 + $0 }
                for size in sizes {
                    let key = String(repeating: "k", count: size)
                    client.run(Self.script, keys: [key], arguments: []) { answer in
                        let number = (try? answer.get())?.number.map { Int($0) } ?? -1
                        answers.withLock { $0.append(number) }
                    }
                }
                #expect(answers.withLock(\.isEmpty))
                mayRead.signal()
                await eventually { answers.withLock(\.count) == sizes.count }
                #expect(answers.withLock(\.self) == sizes)
                await client.shutDown()
            }

            @Test func `an answer comes once, and never within the call that asks`() async throws {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    if peer.read() != nil { peer.write("+fine\r\n") }
                    peer.waitForEnd()
                }
                let client = RedisClient.make(server.endpoint, maxWaiting: 1)
                _ = try await client.run(RedisCommand("X"))
                let errors = Locked<[String]>([])
                // The thread that asks, while it does.
                let asking = Locked<Int?>(nil)
                @Sendable func ask() {
                    asking.withLock { $0 = NativeThread.currentNumber }
                    client.run(Self.script, keys: [], arguments: []) { answer in
                        let isWithin = asking.withLock { $0 } == NativeThread.currentNumber
                        guard case .failure(let error as RedisError) = answer, !isWithin else {
                            return errors.withLock { $0.append("an answer, \(isWithin)") }
                        }
                        errors.withLock { $0.append("\(error)") }
                    }
                    asking.withLock { $0 = nil }
                }
                // As many as may be are outstanding, one waits, and the others fail at once.
                let most = RedisMachine.maxOutstanding
                await Task(executorPreference: client.taskExecutor) {
                    for _ in 0..<most + 3 { ask() }
                }.value
                await eventually { errors.withLock(\.count) == 2 }
                await client.shutDown()
                await eventually { errors.withLock(\.count) == most + 3 }
                ask()
                await eventually { errors.withLock(\.count) == most + 4 }
                let counts = Dictionary(grouping: errors.withLock(\.self)) { $0 }.mapValues(\.count)
                #expect(
                    counts == ["\(RedisError.overloaded)": 2, "\(RedisError.shutDown)": most + 2])
            }

            private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }
        }
    }
#endif
