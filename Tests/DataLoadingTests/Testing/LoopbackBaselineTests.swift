// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// What `stop()` leaves and how many connections fit; each test runs in a process.
        @Suite struct LoopbackBaselineTests {
            @Test func `a loopback server leaves no thread and no descriptor behind`() async {
                await #expect(processExitsWith: .success) {
                    try Self.useServer()
                    let threads = Self.threadCount
                    let descriptors = Self.descriptorCount
                    for _ in 0..<200 {
                        try Self.useServer()
                        // A thread that was joined is listed until the kernel has let it go.
                        let end = ContinuousClock.now + .seconds(60)
                        while Self.threadCount > threads {
                            guard .now < end else { exit(1) }
                            sched_yield()
                        }
                        guard Self.descriptorCount == descriptors else { exit(2) }
                    }
                }
            }

            @Test func `a loopback server serves a thousand connections at once`() async {
                await #expect(processExitsWith: .success) {
                    let count = min(1_000, (try Self.raiseDescriptorLimit() - 64) / 2)
                    guard count >= 50 else { exit(1) }
                    let gate = LoopbackGate()
                    let server = try LoopbackServer { _ in .ok("all").preceded(by: .wait(for: gate))
                    }
                    let clients = try (0..<count).map { _ in try RawClient(port: server.port) }
                    for client in clients { try client.send("GET / HTTP/1.1\r\n\r\n") }
                    await server.waitForRequests(count)
                    guard server.openConnectionCount == count else { exit(2) }
                    gate.open()
                    for client in clients {
                        guard try client.response().text == "all" else { exit(3) }
                    }
                }
            }

            /// Raises the descriptor limit of this process to the maximum and returns it.
            private static func raiseDescriptorLimit() throws -> Int {
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                guard getrlimit(resource, &limit) == 0 else { throw POSIXError(.EPERM) }
                limit.rlim_cur = limit.rlim_max
                guard setrlimit(resource, &limit) == 0 else { throw POSIXError(.EPERM) }
                return Int(clamping: limit.rlim_cur)
            }

            private static func useServer() throws {
                let gate = LoopbackGate()
                let server = try LoopbackServer(
                    handler: .sequence([.ok(), .steps(.stall), .steps(.wait(for: gate)), .ok()]))
                let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
                for client in clients { try client.send("GET / HTTP/1.1\r\n\r\n") }
                clients[1].reset()
                server.goDown()
                try server.comeUp()
                server.stop()
            }

            private static var threadCount: Int {
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count)
                    ?? -1
            }

            /// The number of sockets and pipes; the runtime opens other kinds at any time.
            private static var descriptorCount: Int {
                let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                return names?.count { name in
                    let target = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/\(name)")
                    return target?.hasPrefix("socket:") == true
                        || target?.hasPrefix("pipe:") == true
                } ?? -1
            }
        }
    }
#endif
