// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import Testing

/// What the endpoint takes as a request.
@Suite struct EndpointHeadTests {
    private func read(_ text: String) -> EndpointHead { EndpointHead.read(Array(text.utf8)) }

    private func request(_ text: String) throws -> EndpointRequest {
        guard case .request(let request, let length) = read(text) else {
            Issue.record("\(read(text))")
            throw CancellationError()
        }
        #expect(length == text.utf8.count)
        return request
    }

    @Test func `a request has its method, its path without the query, and its fields`() throws {
        let get = try request(
            "GET /metrics?name=x HTTP/1.1\r\nHost: a:1\r\nAccept: \t b c \t\r\n\r\n")
        #expect(get.path == "/metrics" && !get.isHead && get.keepsAlive)
        #expect(get.headers["host"] == "a:1" && get.headers["Accept"] == "b c")
        let head = try request("HEAD / HTTP/1.0\r\nHost:\r\n\r\n")
        #expect(head.isHead && head.path == "/" && !head.keepsAlive)
        let closing = try request("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n")
        #expect(!closing.keepsAlive)
    }

    @Test func `a head is not read before all of it has come`() {
        let text = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        for count in text.indices { #expect(EndpointHead.read(text[..<count]) == .incomplete) }
    }

    @Test func `bytes of the next request are left`() {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        guard case .request(_, let length) = read(text + text) else {
            Issue.record("no request")
            return
        }
        #expect(length == text.utf8.count)
    }

    @Test(
        arguments: [
            ("", 400), (" / HTTP/1.1\r\nHost: a", 400), ("GET  / HTTP/1.1\r\nHost: a", 400),
            ("GET / HTTP/1.1", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a", 400),
            ("GET http://a/ HTTP/1.1\r\nHost: a", 400), ("GET * HTTP/1.1\r\nHost: a", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded", 400), ("GET / HTTP/1.1\nHost: a", 400),
            ("GET / HTTP/1.1\r\nHost : a", 400), ("GET / HTTP/1.1\r\nHost: a\r\nno colon", 400),
            ("GET / HTTP/1.1\r\nHost: a\rX: b", 400), ("GET /\u{E9} HTTP/1.1\r\nHost: a", 400),
            ("GET / HTTP/1.1\r\nHost: a\u{0}b", 400), ("GET / ABC\r\nHost: a", 400),
            ("GET / HTTP/2.0\r\nHost: a", 505), ("POST * HTTP/1.1\r\nHost: a", 400),
        ])
    func `anything else is refused`(_ head: String, _ status: Int) {
        #expect(read(head + "\r\n\r\n") == EndpointStatus(rawValue: status).map { .refused($0) })
    }

    @Test(
        arguments: [
            ("POST / HTTP/1.1\r\nHost: a", 405), ("OPTIONS / HTTP/1.1\r\nHost: a", 405),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1", 413),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: x", 413),
            ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked", 413),
        ])
    func `another method or a body is refused once its host is known, and ends the connection`(
        _ head: String, _ status: Int
    ) throws {
        let request = try request(head + "\r\n\r\n")
        #expect(request.refusal == EndpointStatus(rawValue: status))
        #expect(!request.keepsAlive)
    }

    @Test func `a head of 8 KiB is read, and a longer one refused`() throws {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
        let filler = String(repeating: "x", count: 8_192 - start.utf8.count - 4)
        #expect(try request(start + filler + "\r\n\r\n").headers["X"]?.count == filler.count)
        #expect(read(start + filler + "x\r\n\r\n") == .refused(.headTooLarge))
        #expect(read(String(repeating: "x", count: 8_192)) == .refused(.headTooLarge))
    }

    @Test func `any bytes are read or refused, and what is read is whole`() {
        let seeds = [
            "GET / HTTP/1.1\r\nHost: localhost:9464\r\nAuthorization: Bearer abc\r\n\r\n",
            "HEAD /metrics?a=b HTTP/1.0\r\nHost: [::1]\r\nContent-Length: 0\r\n\r\nGET",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde",
        ]
        let words = ["\r\n", "\r\n\r\n", "\n", "\r", ":", " ", "\0", "Host: a\r\n", "HTTP/1.1"]
        fuzz(seeds, words: words) { input in
            switch EndpointHead.read(input) {
            case .incomplete:
                return input.count < EndpointHead.limit ? .refused : .wrong("no end")
            case .refused: return .refused
            case .request(let request, let length):
                guard length <= input.count, request.path.first == "/",
                    request.headers.values(for: "Host").count == 1
                else { return .wrong("\(request)") }
                return .taken
            }
        }
    }
}
