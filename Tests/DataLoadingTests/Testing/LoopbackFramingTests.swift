// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Testing

extension SocketTests {
    /// What a loopback server writes for complete responses.
    @Suite struct LoopbackFramingTests {
        /// Every byte of the response to `request` until the server closes.
        private func bytes(
            _ response: LoopbackResponse,
            to request: String = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
        ) throws -> String {
            let server = try LoopbackServer { _ in response }
            let client = try RawClient(port: server.port)
            try client.send(request)
            let (text, ending) = client.readToEnd()
            #expect(ending == .closed)
            return text
        }

        @Test func `a loopback server declares the length of a body`() throws {
            let text = try bytes(.status(201, headers: ["A": "b"], body: "hello"))
            #expect(text == "HTTP/1.1 201 Created\r\nA: b\r\nContent-Length: 5\r\n\r\nhello")
        }

        @Test func `a loopback server sends chunks and trailers`() throws {
            let text = try bytes(.chunked(["hello", " ", "world"], trailers: ["Sum": "1"]))
            #expect(
                text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nSum: 1\r\n\r\n")
        }

        @Test func `a loopback server splits a payload into chunks of a given size`() throws {
            let text = try bytes(.steps(.chunks("abcdefg" + "hi", of: 4), .lastChunk(), .close))
            #expect(text == "4\r\nabcd\r\n4\r\nefgh\r\n1\r\ni\r\n0\r\n\r\n")
        }

        @Test func `a loopback server sends no body after a HEAD or with a 204`() throws {
            let head = try bytes(.ok("hello"), to: "HEAD / HTTP/1.0\r\n\r\n")
            #expect(head == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            let empty = try bytes(.status(204, body: "hello"))
            #expect(empty == "HTTP/1.1 204 No Content\r\n\r\n")
        }

        @Test func `a loopback server sends raw bytes whatever the request was`() throws {
            let text = try bytes(.raw("no HTTP at all"), to: "HEAD / HTTP/1.1\r\n\r\n")
            #expect(text == "no HTTP at all")
        }

        @Test func `a loopback server sends informational heads before the answer`() throws {
            let response = LoopbackResponse.ok("x").preceded(
                by: .head(100), .head(103, headers: ["Link": "<a>"]))
            #expect(
                try bytes(response) == "HTTP/1.1 100 Continue\r\n\r\n"
                    + "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        }

        @Test func `a loopback server ends a body by closing the connection`() throws {
            let text = try bytes(.untilClose("all of it"), to: "GET / HTTP/1.1\r\n\r\n")
            #expect(text == "HTTP/1.1 200 OK\r\n\r\nall of it")
        }

        @Test func `a loopback server declares more bytes than it sends when scripted`() throws {
            let text = try bytes(.truncated("five!", declaring: 60), to: "GET / HTTP/1.1\r\n\r\n")
            #expect(text == "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\nfive!")
        }

        @Test func `a loopback server keeps scripted headers that frame the body`() throws {
            let twice: HTTPHeaders = ["Content-Length": "1", "Content-Length": "2"]
            let text = try bytes(.status(200, reason: "", headers: twice, body: "ab"))
            #expect(text == "HTTP/1.1 200 \r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
        }

        @Test(arguments: [
            ("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", LoopbackResponse.ok()),
            ("GET / HTTP/1.0\r\n\r\n", .ok()),
            ("GET / HTTP/1.1\r\n\r\n", .ok(headers: ["connection": "close"])),
            ("GET / HTTP/1.1\r\n\r\n", .ok().followed(by: .close)),
        ])
        func `a loopback server closes when either side asks for it`(
            request: String, response: LoopbackResponse
        ) async throws {
            let server = try LoopbackServer { _ in response }
            let client = try RawClient(port: server.port)
            try client.send(request)
            #expect(client.readToEnd().ending == .closed)
            let connection = try #require(await server.waitForClosedConnections(1).first)
            #expect(connection.serverEnded != nil)
            #expect(connection.clientEnded == nil)
        }

        @Test func `a loopback server answers pipelined requests in order`() throws {
            let server = try LoopbackServer { .ok("\($0.target)") }
            let client = try RawClient(port: server.port)
            try client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
            #expect(try client.response().text == "/1")
            #expect(try client.response().text == "/2")
        }
    }
}
