// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Testing

extension SocketTests {
    @Suite struct LoopbackHandlerTests {
        @Test func `a sequence handler answers in order over all connections and repeats the last`()
            throws
        {
            let server = try LoopbackServer(
                handler: .sequence([.status(503), .status(503), .ok("up")]))
            var statuses: [String] = []
            for _ in 0..<4 { statuses.append(try RawClient(port: server.port).get().status) }
            #expect(statuses.map { $0.dropFirst(9).prefix(3) } == ["503", "503", "200", "200"])
        }

        @Test func `a route handler chooses by path and keeps a sequence for each route`() throws {
            let server = try LoopbackServer(
                handler: .routes(
                    ["/a": .sequence([.ok("a1"), .ok("a2")]), "/b": .always(.ok("b"))],
                    otherwise: LoopbackHandler { .ok("else \($0.target)") }))
            let client = try RawClient(port: server.port)
            let targets = ["/a", "/b", "/a?q", "/c/a", "/b"]
            #expect(
                try targets.map { try client.get($0).text } == ["a1", "b", "a2", "else /c/a", "b"])
        }

        @Test func `a route handler answers an unknown path with 404`() throws {
            let server = try LoopbackServer(handler: .routes([:]))
            #expect(try RawClient(port: server.port).get().status == "HTTP/1.1 404 Not Found")
        }

        @Test func `an answers script gives each connection its answers in order`() throws {
            let server = try LoopbackServer(script: .answers([.ok("1"), .ok("2")]))
            for _ in 0..<2 {
                let client = try RawClient(port: server.port)
                #expect(try (0..<3).map { _ in try client.get().text } == ["1", "2", "2"])
            }
        }

        @Test func `a changed script applies to connections that follow`() throws {
            let server = try LoopbackServer { _ in .ok("old") }
            let before = try RawClient(port: server.port)
            #expect(try before.get().text == "old")
            server.setScript(.serve(.always(.ok("new"))))
            #expect(try RawClient(port: server.port).get().text == "new")
            #expect(try before.get().text == "old")
        }

        @Test func `a blocked answer delays no other connection`() async throws {
            let gate = LoopbackGate()
            let server = try LoopbackServer { request in
                request.path == "/slow" ? .ok("slow").preceded(by: .wait(for: gate)) : .ok("fast")
            }
            let slow = try RawClient(port: server.port)
            try slow.send("GET /slow HTTP/1.1\r\n\r\n")
            await server.waitForRequests(1)
            #expect(try RawClient(port: server.port).get().text == "fast")
            gate.open()
            #expect(try slow.response().text == "slow")
        }
    }
}
