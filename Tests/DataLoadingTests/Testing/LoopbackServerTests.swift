// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    @Suite struct LoopbackServerTests {
        @Test func `a loopback server answers requests on one connection and records them`()
            async throws
        {
            let server = try LoopbackServer { request in .ok("you asked for \(request.target)") }
            let client = try RawClient(port: server.port)
            let first = try client.get("/a?b=1")
            #expect(first.status == "HTTP/1.1 200 OK")
            #expect(first.text == "you asked for /a?b=1")
            #expect(try client.get("/c").text == "you asked for /c")
            let requests = await server.waitForRequests(2)
            #expect(requests.map(\.target) == ["/a?b=1", "/c"])
            #expect(requests.map(\.connection) == [0, 0])
            #expect(requests.map(\.isOnReusedConnection) == [false, true])
            #expect(requests[0].path == "/a")
            #expect(requests[0].query == "b=1")
            #expect(requests[0].method == .get)
            #expect(requests[0].headers == ["Host": "a"])
            #expect(requests[0].rawHead == Data("GET /a?b=1 HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            #expect(requests[0].arrival <= requests[1].arrival)
            #expect(server.openConnectionCount == 1)
        }

        @Test func `a loopback server records when the client closed`() async throws {
            let server = try LoopbackServer { _ in .ok() }
            let client = try RawClient(port: server.port)
            _ = try client.get()
            client.disconnect()
            let connection = try #require(await server.waitForClosedConnections(1).first)
            #expect(connection.clientEnding == .closed)
            #expect(connection.clientEnded != nil)
            #expect(!connection.isOpen)
            #expect(connection.requestCount == 1)
            #expect(server.openConnectionCount == 0)
        }

        @Test func `a loopback server resets in the middle of a status line`() async throws {
            let server = try LoopbackServer { _ in .steps(.bytes("HTTP/1.1 20"), .reset) }
            let client = try RawClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            let (text, ending) = client.readToEnd()
            #expect(text == "HTTP/1.1 20")
            #expect(ending == .reset)
        }

        @Test func `a loopback server gives each connection its own script`() async throws {
            let script = LoopbackScript.perConnection { number in
                number == 0 ? .answers([.ok("first"), .steps(.reset)]) : .answers([.ok("second")])
            }
            let server = try LoopbackServer(script: script)
            let stale = try RawClient(port: server.port)
            #expect(try stale.get().text == "first")
            try stale.send("GET /again HTTP/1.1\r\n\r\n")
            #expect(stale.readToEnd() == ("", .reset))
            let fresh = try RawClient(port: server.port)
            #expect(try fresh.get().text == "second")
            #expect(server.requests.map(\.target) == ["/", "/again", "/"])
        }

        @Test func `a loopback server stops while a script stalls`() async throws {
            let server = try LoopbackServer { _ in .steps(.bytes("HTTP/1.1 200 OK\r\n"), .stall) }
            let client = try RawClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            _ = try client.read(17)
            server.stop()
            #expect(client.readToEnd() == ("", .closed))
        }
    }
}
