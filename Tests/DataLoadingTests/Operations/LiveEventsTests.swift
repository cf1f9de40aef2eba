// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    /// The events that the endpoint sends to a page.
    @Suite(.timeLimit(.minutes(5))) struct LiveEventsTests {
        /// A feed whose snapshots are numbered; it has three loads.
        private final class Feed: LiveFeed {
            private let count = Locked(0)
            private let filler: Int

            init(filler: Int = 0) {
                self.filler = filler
            }

            var snapshots: Int { count.withLock { $0 } }

            func snapshot() -> [UInt8] {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return Array("{\"number\":\(number)}\(String(repeating: " ", count: filler))".utf8)
            }

            func loads(after number: Int64) -> (data: [UInt8], last: Int64)? {
                number < 3 ? (Array("[\(number + 1)]".utf8), number + 1) : nil
            }
        }

        private let clock = ManualClock()

        private func serve(_ feed: Feed, snapshot: String = "{}") throws -> EndpointServer {
            var endpoint = OperationsEndpoint.loopback(port: 0, token: EndpointScene.token)
            endpoint.servesDashboard = true
            let content = EndpointContent(
                exposition: { _ in Exposition(.make(), accepting: nil) },
                health: { Health(isLive: true, isReady: true, reasons: []) },
                snapshot: { Array(snapshot.utf8) },
                dashboard: EndpointDashboard(feed: feed, page: EndpointResponse(.ok)))
            return try EndpointServer(endpoint, content, timekeeper: clock.timekeeper)
        }

        private func send(_ path: String, to server: EndpointServer) throws -> RawClient {
            let port = try #require(server.port)
            let client = try RawClient(port: port)
            try client.send(
                "GET \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\n"
                    + "Authorization: Bearer \(EndpointScene.token)\r\n\r\n")
            return client
        }

        /// Moves the clock, and lets the server's thread look at it.
        private func pass(_ time: Duration, _ server: EndpointServer) throws {
            clock.advance(by: time)
            #expect(try send("/snapshot", to: server).response().text == "{}")
        }

        @Test func `a page gets a snapshot at once and each second, and each load once`() throws {
            let server = try serve(Feed())
            let client = try send("/events", to: server)
            var text = ""
            for number in 1...5 {
                while !text.contains("{\"number\":\(number)}\n\n") {
                    text += String(decoding: try client.read(1), as: UTF8.self)
                }
                try pass(.milliseconds(999), server)
                try pass(.milliseconds(1), server)
            }
            #expect(text.contains("\r\nContent-Type: text/event-stream\r\n"))
            let events = text.components(separatedBy: "\r\n\r\nretry: 2000\n\n").last ?? ""
            let snapshots = (1...5).map { "event: snapshot\ndata: {\"number\":\($0)}\n\n" }
            let loads = (1...3).map { "event: loads\nid: \($0)\ndata: [\($0)]\n\n" }
            #expect(events == (snapshots.prefix(1) + loads + snapshots.dropFirst()).joined())
            server.stop()
            #expect(client.readToEnd().ending == .closed)
        }

        @Test func `a page that reads nothing for ten seconds is left, and others are answered`()
            throws
        {
            // More than what the system's buffers on both sides take.
            let feed = Feed(filler: 16_000_000)
            let server = try serve(feed)
            let slow = try send("/events", to: server)
            while feed.snapshots == 0 { try pass(.zero, server) }
            for _ in 0..<9 { try pass(.seconds(1), server) }
            #expect(feed.snapshots == 1)
            // The system's buffers may take more in the meantime, which counts as reading.
            for _ in 0..<30 { try pass(.seconds(1), server) }
            var count = 0
            let ending = slow.readToEnd { count += $0.count }
            #expect(ending != .timedOut && count < 16_000_000)
        }

        @Test func `nobody is asked for a snapshot while no page is connected`() throws {
            let feed = Feed()
            let server = try serve(feed)
            let client = try send("/events", to: server)
            while feed.snapshots == 0 { try pass(.zero, server) }
            client.disconnect()
            // The thread sees the end of the connection before the first of these, or with it.
            for _ in 0..<20 { try pass(.seconds(1), server) }
            #expect(feed.snapshots <= 2)
        }

        @Test func `connections that read nothing keep nobody out`() throws {
            let server = try serve(Feed(), snapshot: String(repeating: " ", count: 6_000_000))
            let slow = try (0..<16).map { _ in try send("/snapshot", to: server) }
            let answer = try send("/metrics", to: server).response()
            #expect(answer.status == "HTTP/1.1 200 OK")
            withExtendedLifetime(slow) {}
        }
    }
}
