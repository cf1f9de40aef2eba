// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    /// The faults that a loopback server can be told to make.
    @Suite struct LoopbackFaultTests {
        private let get = "GET / HTTP/1.1\r\n\r\n"

        @Test func `a loopback server closes without sending a byte, before and after reading`()
            throws
        {
            let unread = try LoopbackServer(script: .close)
            #expect(try RawClient(port: unread.port).readToEnd() == ("", .closed))
            let read = try LoopbackServer { _ in .steps(.close) }
            let client = try RawClient(port: read.port)
            try client.send(get)
            #expect(client.readToEnd() == ("", .closed))
        }

        @Test(.timeLimit(.minutes(10)))
        func `a wait for confirmation ends when a client that has ended its side resets`()
            async throws
        {
            let server = try LoopbackServer { _ in
                .steps(.head(200), .content(.pattern(60_000)), .confirmed)
            }
            // The client's system has no room for the body.
            let client = try RawClient(port: server.port, receiveBuffer: 1_024)
            try client.send(get)
            client.halfClose()
            let ended = await server.waitForClosedConnections(1)
            #expect(ended.map(\.clientEnding) == [.closed])
            client.reset()
            await eventually { server.connections.first?.serverEnded != nil }
        }

        @Test func `a loopback server resets without sending a byte`() throws {
            let server = try LoopbackServer(script: .reset)
            #expect(try RawClient(port: server.port).readToEnd() == ("", .reset))
        }

        @Test func `a loopback server answers once and resets the second request`() async throws {
            let server = try LoopbackServer(script: .answers([.ok("a"), .steps(.reset)]))
            let client = try RawClient(port: server.port)
            #expect(try client.get("/1").text == "a")
            try client.send("POST /2 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")
            #expect(client.readToEnd() == ("", .reset))
            let second = await server.waitForRequests(2)[1]
            #expect(second.text == "abc")
            #expect(second.isComplete)
        }

        @Test func `a loopback server resets in the middle of a body`() throws {
            let server = try LoopbackServer { _ in
                .status(200, headers: ["Content-Length": "10"], body: "12345").followed(by: .reset)
            }
            let client = try RawClient(port: server.port)
            try client.send(get)
            let (text, ending) = client.readToEnd()
            #expect(text.hasSuffix("\r\n\r\n12345"))
            #expect(ending == .reset)
        }

        @Test func `a loopback server closes its half and still reads from the client`()
            async throws
        {
            let server = try LoopbackServer { _ in .steps(.bytes("done"), .halfClose, .drain) }
            let client = try RawClient(port: server.port)
            try client.send(get)
            #expect(client.readToEnd() == ("done", .closed))
            try client.send("still here")
            client.disconnect()
            let connection = await server.waitForClosedConnections(1)[0]
            #expect(connection.clientEnding == .closed)
            #expect(connection.bytesReceived == Int64((get + "still here").utf8.count))
        }

        @Test func `a loopback server serves a client that closed its half`() throws {
            let server = try LoopbackServer { _ in
                .ok("late").preceded(by: .pause(.milliseconds(1)))
            }
            let client = try RawClient(port: server.port)
            try client.send(get)
            client.halfClose()
            #expect(client.readToEnd().text.hasSuffix("late"))
        }

        @Test func `a loopback server stalls until the client leaves and records how it left`()
            async throws
        {
            let server = try LoopbackServer { _ in .steps(.bytes("HTTP/1.1 "), .stall) }
            let closing = try RawClient(port: server.port)
            try closing.send(get)
            _ = try closing.read(9)
            closing.disconnect()
            #expect(await server.waitForClosedConnections(1)[0].clientEnding == .closed)
            let resetting = try RawClient(port: server.port)
            try resetting.send(get)
            _ = try resetting.read(9)
            resetting.reset()
            #expect(await server.waitForClosedConnections(2)[1].clientEnding == .reset)
        }

        @Test func `a loopback server holds an answer until its gate opens`() async throws {
            let reached = LoopbackGate()
            let gate = LoopbackGate()
            let server = try LoopbackServer { _ in
                .ok("after").preceded(by: .open(reached), .bytes("before "), .wait(for: gate))
            }
            let client = try RawClient(port: server.port)
            try client.send(get)
            await reached.opened()
            #expect(try client.read(7) == Array("before ".utf8))
            gate.open()
            #expect(try client.response().text == "after")
            #expect(try client.get().text == "after")
        }

        @Test func `a loopback server notices a client that leaves while a gate holds its answer`()
            async throws
        {
            let server = try LoopbackServer { _ in .steps(.wait(for: LoopbackGate())) }
            let client = try RawClient(port: server.port)
            try client.send(get)
            await server.waitForHeads(1)
            client.disconnect()
            #expect(await server.waitForClosedConnections(1)[0].clientEnding == .closed)
        }

        @Test func `a loopback server pauses at least as long as scripted`() throws {
            let server = try LoopbackServer { _ in .ok().preceded(by: .pause(.milliseconds(20))) }
            let client = try RawClient(port: server.port)
            let took = try ContinuousClock().measure { _ = try client.get() }
            #expect(took >= .milliseconds(20))
        }

        @Test func `a loopback server sends bytes slowly when scripted`() async throws {
            let server = try LoopbackServer { _ in
                .steps(.drip("drop by drop", of: 5, every: .milliseconds(2)), .close)
            }
            let client = try RawClient(port: server.port)
            try client.send(get)
            let took = ContinuousClock().measure {
                #expect(client.readToEnd() == ("drop by drop", .closed))
            }
            #expect(took >= .milliseconds(4))
        }

        @Test func `a silent loopback server reads and sends nothing`() async throws {
            let server = try LoopbackServer(script: .silent)
            let client = try RawClient(port: server.port)
            try client.send(get)
            client.disconnect()
            let connection = await server.waitForClosedConnections(1)[0]
            #expect(connection.bytesReceived == 0)
            #expect(connection.bytesSent == 0)
            #expect(server.requestCount == 0)
        }

        @Test func `a loopback server answers before the request body and then resets`()
            async throws
        {
            let server = try LoopbackServer(
                handler: LoopbackHandler { head in
                    .status(413).followed(by: .readBody(atMost: 2), .reset)
                } otherwise: { _ in
                    .ok()
                })
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\nabcd")
            #expect(try client.response().status == "HTTP/1.1 413 Content Too Large")
            #expect(client.readToEnd().ending == .reset)
            let request = await server.waitForRequests(1)[0]
            #expect(!request.isComplete)
            #expect(request.text == "ab")
        }

        @Test func `a loopback server drops the rest of a body that it answered early`()
            async throws
        {
            let server = try LoopbackServer(
                handler: LoopbackHandler { head in
                    head.method == .post ? .status(403) : nil
                } otherwise: { _ in
                    .ok("next")
                })
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n")
            #expect(try client.response().status == "HTTP/1.1 403 Forbidden")
            try client.send("body")
            #expect(try client.get().text == "next")
        }

        @Test func `a loopback server lets an uploading client read an early answer that closes`()
            throws
        {
            let server = try LoopbackServer(
                handler: LoopbackHandler { _ in
                    .status(413, headers: ["Connection": "close"])
                } otherwise: { _ in
                    .ok()
                })
            let client = try RawClient(port: server.port)
            try client.send("POST / HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n")
            try client.send([UInt8](repeating: 0, count: 1_000_000))
            #expect(client.readToEnd().ending == .closed)
        }

        @Test func `a black hole leaves a connection attempt without an answer`() throws {
            let hole = try LoopbackBlackHole()
            #expect(try RawClient.connects(to: hole.port, within: .milliseconds(50)) == false)
            hole.close()
        }
    }
}
