// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        /// How commands and clients end, and what a client does in between.
        @Suite struct RedisClientLifeTests {
            @Test func `a cancelled command ends at once and the connection is used on`()
                async throws
            {
                let isAsked = Locked(false)
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    _ = peer.read()
                    isAsked.withLock { $0 = true }
                    _ = peer.read()
                    peer.write("+first\r\n+second\r\n")
                    peer.waitForEnd()
                }
                let client = RedisClient.make(server.endpoint)
                let task = Task { try await client.run(RedisCommand("X")) }
                await eventually { isAsked.withLock { $0 } }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(try await client.run(RedisCommand("Y")) == .simple("second"))
                let cancelled = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await client.run(RedisCommand("Z"))
                }
                await #expect(throws: CancellationError.self) { try await cancelled.value }
                #expect(server.connectionCount == 1)
                await client.shutDown()
            }

            @Test func `a shut down ends what was sent and what waits`() async throws {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    peer.waitForEnd()
                }
                let client = RedisClient.make(server.endpoint, maxWaiting: 30)
                let tasks = (0..<40).map { _ in Task { try await client.run(RedisCommand("X")) } }
                await eventually { client.status.connection == .ready }
                await client.shutDown()
                var errors: [RedisError: Int] = [:]
                for task in tasks {
                    guard case .failure(let error as RedisError) = await task.result else {
                        Issue.record("an answer")
                        continue
                    }
                    errors[error, default: 0] += 1
                }
                #expect(errors[.shutDown, default: 0] + errors[.overloaded, default: 0] == 40)
                #expect(errors[.shutDown, default: 0] >= 16)
                await #expect(throws: RedisError.shutDown) {
                    try await client.run(RedisCommand("X"))
                }
                await client.shutDown()
            }

            @Test func `a client that is released closes its connection`() async throws {
                let isClosed = Locked(false)
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    if peer.read() != nil { peer.write("+fine\r\n") }
                    peer.waitForEnd()
                    isClosed.withLock { $0 = true }
                }
                var client: RedisClient? = RedisClient.make(server.endpoint)
                #expect(try await client?.run(RedisCommand("X")) == .simple("fine"))
                client = nil
                await eventually { isClosed.withLock { $0 } }
            }

            @Test func `an idle client neither wakes nor sends anything`() async throws {
                let server = try ScriptedRedis { _, peer in
                    peer.greet()
                    while peer.read() != nil { peer.write("+fine\r\n") }
                }
                let others = ThreadSwitches.tasks
                let client = RedisClient.make(server.endpoint)
                #expect(try await client.run(RedisCommand("X")) == .simple("fine"))
                let own = ThreadSwitches(of: ThreadSwitches.tasks.subtracting(others))
                // On a busy machine each answer may be there before the thread waits for it.
                await eventually { own.count > 0 }
                // The thread sleeps soon after its last answer.
                await eventually { own.count == own.after(20) }
                let before = own.count
                #expect(own.after(500) == before)
                await client.shutDown()
            }

            @Test func `a process that exits while commands wait ends at once`() async {
                await #expect(processExitsWith: .exitCode(7)) {
                    let server = try ScriptedRedis { _, peer in
                        peer.greet()
                        // A thread that has ended without being joined would count as a leak.
                        DispatchSemaphore(value: 0).wait()
                    }
                    var configuration = RedisConfiguration(endpoints: [server.endpoint])
                    configuration.patience = .seconds(60)
                    let client = RedisClient(configuration)
                    let tasks = (0..<20).map { _ in Task { try await client.run(RedisCommand("X")) }
                    }
                    await eventually { client.status.connection == .ready }
                    withExtendedLifetime(tasks) { exit(7) }
                }
            }
        }
    }

    /// How often the client's thread has gone to sleep.
    private struct ThreadSwitches {
        /// The numbers of the process's threads.
        static var tasks: Set<String> {
            let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            return Set(names ?? [])
        }

        private let tasks: [String]

        /// Takes those of some threads that are the library's.
        init(of tasks: Set<String>) {
            self.tasks = tasks.filter { task in
                let name = try? String(
                    contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
                return name == "DataLoading\n"
            }
        }

        var count: Int {
            tasks.reduce(0) { sum, task in
                guard
                    let status = try? String(
                        contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8),
                    let line = status.split(separator: "\n").first(where: {
                        $0.hasPrefix("voluntary_ctxt_switches:")
                    }), let count = Int(line.split(separator: "\t").last ?? "")
                else { return sum }
                return sum + count
            }
        }

        /// The number after so many milliseconds.
        func after(_ milliseconds: UInt32) -> Int {
            usleep(milliseconds * 1_000)
            return count
        }
    }
#endif
