// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct ResponseGuardTests {
    /// Parses lines as a transport receives them, each with its end.
    private func read(
        _ lines: [String], limit: Int = 262_144, isTunnel: Bool = false
    ) throws(DataLoaderError) -> (ResponseGuard, [ResponseHead], ResponseHead?) {
        var response = ResponseGuard(byteLimit: limit, isTunnel: isTunnel)
        var informational: [ResponseHead] = []
        var final: ResponseHead?
        for line in lines {
            var bytes = Array(line.utf8)
            let event = try bytes.withUnsafeMutableBytes { bytes in
                Result { () throws(DataLoaderError) in
                    try response.receive(UnsafeRawBufferPointer(bytes))
                }
            }.get()
            switch event {
            case .informational(let head): informational.append(head)
            case .final(let head): final = head
            case nil: break
            }
        }
        return (response, informational, final)
    }

    @Test func `header fields keep their order and case, and are trimmed`() throws {
        let (response, _, head) = try read([
            "HTTP/1.1 200 OK\r\n", "X-B:  two \t\r\n", "x-a:one\n", "Empty:\r\n", "\r\n",
        ])
        #expect(head?.headers.fields.map(\.name) == ["X-B", "x-a", "Empty"])
        #expect(head?.headers.fields.map(\.value) == ["two", "one", ""])
        #expect(response.isComplete)
        #expect(response.framing == .untilClose)
        #expect(response.bytes == 17 + 13 + 8 + 8 + 2)
    }

    @Test(arguments: [
        ["HTTP/1.0 200 Connection established\r\n", "Transfer-Encoding: chunked\r\n"],
        ["HTTP/1.1 200 OK\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n"],
        ["HTTP/1.1 200 OK\r\n", "Transfer-Encoding: identity\r\n", "Content-Length:\r\n"],
    ])
    func `a tunnel is open whatever the answer says of a body, and nothing else is`(
        lines: [String]
    ) throws {
        let (response, _, head) = try read(lines + ["\r\n"], isTunnel: true)
        #expect(head?.status == .ok)
        #expect(response.framing == .untilClose)
        #expect(throws: DataLoaderError.self) { try read(lines + ["\r\n"]) }
        #expect(throws: DataLoaderError.self) {
            let refusal = lines[0].replacing("200", with: "502")
            _ = try read([refusal] + lines.dropFirst() + ["\r\n"], isTunnel: true)
        }
    }

    @Test func `folded lines are joined`() throws {
        let (_, _, head) = try read([
            "HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\t 2 \r\n", " 3\r\n", "\r\n",
        ])
        #expect(head?.headers["A"] == "1 2 3")
        let (_, _, late) = try read([
            "HTTP/1.1 302 Found\r\n", "Location:\r\n", " /next\r\n", " \r\n", "\r\n",
        ])
        #expect(late?.headers["Location"] == "/next")
    }

    @Test func `folded lines count as fields`() throws {
        let lines = { count in
            ["HTTP/1.1 200 OK\r\n", "A: x\r\n"] + Array(repeating: " a\n", count: count) + ["\r\n"]
        }
        let (_, _, head) = try read(lines(ResponseGuard.fieldLimit - 1))
        #expect(head?.headers["A"]?.utf8.count == 2 * ResponseGuard.fieldLimit - 1)
        #expect(throws: DataLoaderError.headTooLarge) {
            try read(lines(ResponseGuard.fieldLimit))
        }
    }

    @Test func `values that are not UTF-8 are read as Latin-1`() throws {
        var response = ResponseGuard(byteLimit: 1_000)
        var head: ResponseHead?
        for line in [Array("HTTP/1.1 200 OK\r\n".utf8), Array("A: caf".utf8) + [0xE9], [13, 10]] {
            let event = try line.withUnsafeBytes { bytes in
                Result { () throws(DataLoaderError) in try response.receive(bytes) }
            }.get()
            if case .final(let final) = event { head = final }
        }
        #expect(head?.headers["A"] == "caf\u{e9}")
        let (_, _, utf8) = try read(["HTTP/1.1 200 OK\r\n", "A: caf\u{e9}\r\n", "\r\n"])
        #expect(utf8?.headers["A"] == "caf\u{e9}")
    }

    @Test func `parsing starts again after an informational head`() throws {
        let (response, informational, head) = try read([
            "HTTP/1.1 103 Early Hints\r\n", "Content-Length: 7\r\n", "\r\n", "HTTP/1.1 200 OK\r\n",
            "Content-Length: 9\r\n", "\r\n",
        ])
        #expect(informational.map(\.status.rawValue) == [103])
        #expect(head?.status == .ok)
        #expect(response.framing == .length(9))
    }

    @Test func `lines after the head are checked as trailers`() throws {
        let (response, _, _) = try read([
            "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: Chunked\r\n", "\r\n", "Sum: 1\r\n", "\r\n",
        ])
        #expect(response.framing == .chunked)
        #expect(response.bytes == 17 + 28 + 2 + 8 + 2)
        for line in ["Sum", ": 1", " 1"] {
            #expect(throws: DataLoaderError.self) {
                try read([
                    "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n", "\r\n",
                    line + "\r\n",
                ])
            }
        }
    }

    @Test(arguments: [0, 1, 16, 17, 40]) func `every byte of a head counts against the limit`(
        limit: Int
    ) {
        #expect(throws: DataLoaderError.headTooLarge) {
            try read(["HTTP/1.1 200 OK\r\n", "A: 2345678901234567890\r\n", "\r\n"], limit: limit)
        }
    }

    @Test(arguments: [
        "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2x0 OK", "HTTP/1.1 200OK",
        "HTTP/1.10 200",
        "HTTP/2 200", "HTTP/0.9 200 OK", " HTTP/1.1 200 OK", "ICY 200 OK", "",
    ]) func `a malformed status line is refused`(line: String) {
        #expect(throws: DataLoaderError.self) { try read([line + "\r\n", "\r\n"]) }
    }

    @Test(arguments: [": x", "A B: x", "A\u{e9}: x", "(: x", "A", " folded first"])
    func `a field without a valid name is refused`(line: String) {
        #expect(throws: DataLoaderError.self) {
            try read(["HTTP/1.1 200 OK\r\n", line + "\r\n", "\r\n"])
        }
    }

    @Test func `the status line of HTTP/2 is accepted only where that is spoken`() throws {
        var response = ResponseGuard(byteLimit: 1_000, allowsHTTP2: true)
        for line in ["HTTP/2 204 \r\n", "\r\n"] {
            _ = try Array(line.utf8).withUnsafeBytes { bytes in
                Result { () throws(DataLoaderError) in try response.receive(bytes) }
            }.get()
        }
        #expect(response.isComplete)
    }

    /// Any bytes give a head or an error, never a trap, and nothing past the limits.
    @Test func `any lines give a head within the limits or an error`() {
        var generator = SeededGenerator(seed: 7)
        var errors = 0
        let pieces = [
            "HTTP/1.1 200 OK", "HTTP/1.0 ", "Content-Length", ": ", "9", "18446744073709551616",
            " ",
            "Transfer-Encoding", "chunked", ",", "\t", "\0", "\r", "A", ":", "103", "\u{e9}", "-",
        ]
        for _ in 0..<20_000 {
            let lines = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                (0..<Int.random(in: 0...4, using: &generator))
                    .compactMap { _ in pieces.randomElement(using: &generator) }.joined() + "\r\n"
            }
            do {
                let (_, informational, final) = try read(lines, limit: 200)
                for head in informational + [final].compactMap({ $0 }) {
                    #expect((100...999).contains(head.status.rawValue))
                    let bytes = head.headers.fields.reduce(0) {
                        $0 + $1.name.utf8.count + $1.value.utf8.count
                    }
                    #expect(bytes <= 200)
                }
            } catch {
                errors += 1
            }
        }
        #expect(errors > 0)
    }
}
