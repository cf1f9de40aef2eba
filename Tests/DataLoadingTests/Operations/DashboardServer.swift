// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Foundation

/// Serves the page of a dashboard and its events, with a token.
func serveDashboard(_ feed: any LiveFeed, token: String) throws -> LoopbackServer {
    let dashboard = DashboardServer(feed: feed, token: token)
    return try LoopbackServer(script: .converse { try dashboard.answer($0) })
}

/// As much of an HTTP server as a page needs that never sends a body.
private struct DashboardServer: Sendable {
    let feed: any LiveFeed
    let token: String

    /// Answers the one request of a connection.
    func answer(_ stream: any ByteStream) throws {
        let lines = try head(of: stream).components(separatedBy: "\r\n")
        let path = lines[0].split(separator: " ").dropFirst().first ?? ""
        if path == "/" {
            let policy = "Content-Security-Policy: \(DashboardPage.contentSecurityPolicy)"
            return try send(
                "200 OK", ["Content-Type: text/html; charset=utf-8", policy], DashboardPage.bytes,
                to: stream)
        }
        let field = "authorization: bearer \(token)"
        guard lines.contains(where: { $0.lowercased() == field }) else {
            return try send("401 Unauthorized", [], [], to: stream)
        }
        switch path {
        case "/snapshot":
            try send("200 OK", ["Content-Type: application/json"], feed.snapshot(), to: stream)
        case "/events": try sendEvents(to: stream)
        default: try send("404 Not Found", [], [], to: stream)
        }
    }

    private func head(of stream: any ByteStream) throws -> String {
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while !text.hasSuffix("\r\n\r\n") {
            let count = try bytes.withUnsafeMutableBytes { try stream.read(into: $0) }
            guard count > 0 else { break }
            text += String(decoding: bytes[..<count], as: UTF8.self)
        }
        return text
    }

    private func send(
        _ status: String, _ fields: [String], _ body: [UInt8], to stream: any ByteStream
    ) throws {
        let length = body.isEmpty ? ["Content-Length: 0"] : []
        let head = ["HTTP/1.1 \(status)", "Connection: close"] + fields + length + ["", ""]
        try write(Array(head.joined(separator: "\r\n").utf8) + body, to: stream)
    }

    /// Sends the events of half a second at a time, until the browser closes.
    private func sendEvents(to stream: any ByteStream) throws {
        try send(
            "200 OK", ["Content-Type: text/event-stream"], Array(": hello\nretry: 500\n\n".utf8),
            to: stream)
        var last: Int64 = 0
        while true {
            while let batch = feed.loads(after: last) {
                last = batch.last
                try send("loads", batch.data, id: last, to: stream)
            }
            try send("snapshot", feed.snapshot(), id: last, to: stream)
            try stream.wait(until: SystemTimekeeper().now + .milliseconds(500), or: nil)
        }
    }

    private func send(
        _ event: String, _ data: [UInt8], id: Int64, to stream: any ByteStream
    ) throws {
        try write(
            Array("id: \(id)\nevent: \(event)\ndata: ".utf8) + data + Array("\n\n".utf8),
            to: stream)
    }

    private func write(_ bytes: [UInt8], to stream: any ByteStream) throws {
        try bytes.withUnsafeBytes { try stream.write($0) }
    }
}
