// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    /// What a loopback server records.
    @Suite struct LoopbackRecordingTests {
        @Test func `a loopback server records a body with its length`() async throws {
            let server = try LoopbackServer { request in .ok(.data(request.body)) }
            let client = try RawClient(port: server.port)
            try client.send("PUT /a HTTP/1.1\r\nContent-Length: 11\r\nX: \t y \r\n\r\nhello world")
            #expect(try client.response().text == "hello world")
            let request = await server.waitForRequests(1)[0]
            #expect(request.method == .put)
            #expect(request.headers["x"] == "y")
            #expect(request.text == "hello world")
            #expect(request.bodyLength == 11)
            #expect(request.isComplete)
        }

        @Test func `a loopback server decodes a chunked body and its trailers`() async throws {
            let server = try LoopbackServer { _ in .ok() }
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
            try client.send("5;x=y\r\nhello\r\n")
            try client.send("A\r\n wide worl\r\n1\r\nd\r\n0\r\nSum: 1\r\nOther: 2\r\n\r\n")
            _ = try client.response()
            let request = await server.waitForRequests(1)[0]
            #expect(request.text == "hello wide world")
            #expect(request.trailers == ["Sum": "1", "Other": "2"])
            #expect(try client.get().status == "HTTP/1.1 200 OK")
        }

        @Test func `a loopback server shows a request before its body has arrived`() async throws {
            let server = try LoopbackServer { _ in .ok() }
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n")
            await server.waitForHeads(1)
            #expect(server.requests.map(\.isComplete) == [false])
            client.disconnect()
            let requests = await server.waitForRequests(1)
            #expect(requests.map(\.isComplete) == [false])
        }

        @Test func `a loopback server answers Expect with 100 Continue`() async throws {
            let server = try LoopbackServer { .ok("\($0.text)") }
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.response().status == "HTTP/1.1 100 Continue")
            try client.send("ok")
            #expect(try client.response().text == "ok")
        }

        @Test(arguments: [1000, 0, -1])
        func `a loopback server keeps of a large body what its limit allows`(limit: Int)
            async throws
        {
            var configuration = LoopbackServer.Configuration()
            configuration.recordedBodyLimit = limit
            let server = try LoopbackServer(configuration) { _ in .ok() }
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n")
            try client.send([UInt8](repeating: 7, count: 3_000_000))
            _ = try client.response()
            let request = await server.waitForRequests(1)[0]
            #expect(request.body == Data(repeating: 7, count: max(0, limit)))
            #expect(request.bodyLength == 3_000_000)
            #expect(server.connections[0].bytesReceived > 3_000_000)
        }

        @Test func `a loopback server keeps the newest records and counts all`() async throws {
            var configuration = LoopbackServer.Configuration()
            configuration.recordLimit = 3
            let server = try LoopbackServer(configuration) { _ in .ok() }
            let client = try RawClient(port: server.port)
            for number in 0..<10 { _ = try client.get("/\(number)") }
            let requests = await server.waitForRequests(10)
            #expect(requests.map(\.target) == ["/7", "/8", "/9"])
            #expect(server.requestCount == 10)
            #expect(requests.map(\.indexOnConnection) == [7, 8, 9])
        }

        @Test func `a loopback server may keep any number of records`() async throws {
            var configuration = LoopbackServer.Configuration()
            configuration.recordLimit = .max
            let server = try LoopbackServer(configuration) { _ in .ok() }
            _ = try RawClient(port: server.port).get("/")
            #expect(await server.waitForRequests(1).map(\.target) == ["/"])
        }

        @Test(arguments: [
            "nonsense\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nA : b\r\n\r\n",
            "GET / HTTP/1.1\r\nA: \u{0}\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ])
        func `a loopback server refuses and records a malformed request`(head: String) async throws
        {
            let server = try LoopbackServer { _ in .ok() }
            let client = try RawClient(port: server.port)
            try client.send(head)
            let (text, ending) = client.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(ending == .closed)
            let connection = await server.waitForClosedConnections(1)[0]
            #expect(connection.malformedHead == Data(head.utf8))
            #expect(server.requestCount == 0)
        }

        @Test func `a wait for a loopback server ends when its task is cancelled`() async throws {
            let server = try LoopbackServer { _ in .ok() }
            let task = Task { await server.waitForRequests(1) }
            task.cancel()
            #expect(await task.value.isEmpty)
            let gate = LoopbackGate()
            let held = Task { await gate.opened() }
            held.cancel()
            await held.value
            #expect(!gate.isOpen)
        }

        @Test func `a wait for a loopback server ends when the server is stopped`() async throws {
            let server = try LoopbackServer { _ in .ok() }
            async let early: Void = server.waitForConnections(1)
            server.stop()
            await early
            await server.waitForClosedConnections(1)
        }
    }
}
