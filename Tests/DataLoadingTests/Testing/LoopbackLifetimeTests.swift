// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    /// When a loopback server starts, stops and releases its port.
    @Suite struct LoopbackLifetimeTests {
        @Test func `a stopped loopback server frees its port for the next server`() throws {
            let first = try LoopbackServer { _ in .ok("first") }
            let client = try RawClient(port: first.port)
            #expect(try client.get().text == "first")
            first.stop()
            #expect(client.readToEnd() == ("", .closed))
            var configuration = LoopbackServer.Configuration()
            configuration.port = first.port
            let second = try LoopbackServer(configuration) { _ in .ok("second") }
            #expect(second.port == first.port)
            #expect(try RawClient(port: second.port).get().text == "second")
        }

        @Test
        func `a loopback server goes down, refuses connections and comes back with its records`()
            async throws
        {
            let server = try LoopbackServer { _ in .ok() }
            let held = try RawClient(port: server.port)
            _ = try held.get("/1")
            server.goDown()
            #expect(held.readToEnd() == ("", .closed))
            #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
            try server.comeUp()
            _ = try RawClient(port: server.port).get("/2")
            let requests = await server.waitForRequests(2)
            #expect(requests.map(\.target) == ["/1", "/2"])
            #expect(requests.map(\.connection) == [0, 1])
        }

        @Test func `a loopback server resets its connections when it is stopped with a reset`()
            throws
        {
            let server = try LoopbackServer { _ in .steps(.flush, .stall) }
            let client = try RawClient(port: server.port)
            _ = try client.send("GET / HTTP/1.1\r\n\r\n")
            server.stop(resettingConnections: true)
            #expect(client.readToEnd() == ("", .reset))
        }

        @Test(arguments: [
            LoopbackStep.stall, .pause(.seconds(3600)), .wait(for: LoopbackGate()), .drain,
            .readBody(),
            .drip("endless", every: .seconds(3600)), .content(.pattern(1 << 40)),
        ])
        func `a loopback server stops in the middle of any step`(step: LoopbackStep) async throws {
            let server = try LoopbackServer(
                handler: LoopbackHandler { _ in
                    .steps(.head(200), .flush, step)
                } otherwise: { _ in
                    .ok()
                })
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n")
            _ = try client.response()
            server.stop()
            #expect(client.readToEnd { _ in } != .timedOut)
            #expect(server.openConnectionCount == 0)
        }

        @Test func `a loopback server stops when it is released`() throws {
            var server: LoopbackServer? = try LoopbackServer { _ in .ok() }
            let port = try #require(server?.port)
            let client = try RawClient(port: port)
            _ = try client.get()
            server = nil
            #expect(client.readToEnd() == ("", .closed))
        }

        @Test func `a loopback server listens on other loopback addresses`() throws {
            var configuration = LoopbackServer.Configuration()
            configuration.host = "::1"
            let server = try LoopbackServer(configuration) { _ in .ok() }
            #expect(server.url("/a").absoluteString == "http://[::1]:\(server.port)/a")
            configuration.host = "not an address"
            #expect(throws: LoopbackServerError.self) {
                try LoopbackServer(configuration) { _ in .ok() }
            }
        }

        @Test func `a loopback server reports that its port is taken`() throws {
            let server = try LoopbackServer { _ in .ok() }
            var configuration = LoopbackServer.Configuration()
            configuration.port = server.port
            #expect {
                try LoopbackServer(configuration) { _ in .ok() }
            } throws: { error in
                (error as? LoopbackServerError)?.code == EADDRINUSE
            }
        }
    }
}
