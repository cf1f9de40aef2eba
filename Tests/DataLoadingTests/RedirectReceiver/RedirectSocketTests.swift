// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoadingSupport
@testable import DataLoading
@testable import DataLoadingRedirectReceiver
import Foundation
import Testing

#if os(Linux)
    extension SocketTests {
        /// What a crowded process does to the socket, and the socket to the process.
        @Suite struct RedirectSocketTests {
            @Test func `a redirect receiver whose port is taken closes no descriptor of others`()
                async
            {
                await #expect(processExitsWith: .success) {
                    let taken = try RedirectSocket(port: 0)
                    let isOver = Locked(false)
                    // Other code that opens and closes descriptors of its own.
                    let done = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        while !isOver.withLock({ $0 }) {
                            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                            guard descriptor >= 0 else { continue }
                            for _ in 0..<20 where fcntl(descriptor, F_GETFD) < 0 { exit(1) }
                            guard close(descriptor) == 0 else { exit(1) }
                        }
                        done.signal()
                    }
                    for _ in 0..<20_000 {
                        guard (try? RedirectSocket(port: taken.port)) == nil else { exit(2) }
                    }
                    isOver.withLock { $0 = true }
                    done.wait()
                }
            }

            @Test
            func `a redirect receiver waits for a free descriptor, and loses no request meanwhile`()
                async
            {
                await #expect(processExitsWith: .success) {
                    let socket = try RedirectSocket(port: 0)
                    let client = try RawClient(port: socket.port)
                    try client.send("GET /callback HTTP/1.1\r\n\r\n")
                    try Self.allowDescriptors(3)
                    let end = ContinuousClock.now + .seconds(1)
                    var looks = 0
                    let none = socket.target(where: { _ in true }) {
                        looks += 1
                        return ContinuousClock.now > end
                    }
                    guard none == nil else { exit(1) }
                    guard looks < 100 else { exit(2) }
                    try Self.allowDescriptors(256)
                    let target = socket.target(where: { _ in true }, unless: { false })
                    guard target == "/callback" else { exit(3) }
                }
            }

            @Test func `a cancelled wait leaves its request to the next wait`() throws {
                let socket = try RedirectSocket(port: 0)
                let client = try RawClient(port: socket.port)
                try client.send("GET /callback HTTP/1.1\r\n\r\n")
                // Given up while it waits for a visitor.
                var looks = 0
                let none = socket.target(where: { _ in true }) {
                    looks += 1
                    return looks > 1
                }
                #expect(none == nil)
                var rest = 20
                let target = socket.target(where: { _ in true }) {
                    rest -= 1
                    return rest < 0
                }
                #expect(target == "/callback")
            }

            @Test func `a wait can be cancelled though another wait got the request`() throws {
                for _ in 0..<20 {
                    let socket = try RedirectSocket(port: 0)
                    let isOver = Locked(false)
                    let visited = DispatchSemaphore(value: 0)
                    let left = DispatchSemaphore(value: 0)
                    for _ in 0..<2 {
                        Thread.detachNewThread {
                            let target = socket.target(where: { _ in true }) {
                                isOver.withLock { $0 }
                            }
                            if target != nil { visited.signal() }
                            left.signal()
                        }
                    }
                    usleep(2_000)
                    let client = try RawClient(port: socket.port)
                    try client.send("GET /callback HTTP/1.1\r\n\r\n")
                    visited.wait()
                    isOver.withLock { $0 = true }
                    left.wait()
                    let isLeft = left.wait(timeout: .now() + 60) == .success
                    #expect(isLeft)
                    guard isLeft else { return }
                    withExtendedLifetime(client) {}
                }
            }

            private static func allowDescriptors(_ count: UInt) throws {
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                guard getrlimit(resource, &limit) == 0 else { throw POSIXError(.EPERM) }
                limit.rlim_cur = count
                guard setrlimit(resource, &limit) == 0 else { throw POSIXError(.EPERM) }
            }
        }
    }
#endif
