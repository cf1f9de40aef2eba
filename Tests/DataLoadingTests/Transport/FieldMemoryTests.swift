// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct FieldMemoryTests {
    private struct Reading: Equatable {
        var heads: [[HTTPHeaders.Field]] = []
        var failure: DataLoaderError?
        var framing = ResponseGuard.Framing.untilClose
        var isEncoded = false
    }

    private static let lines = [
        "Server: nginx", "Date: Wed, 25 Nov 2026 10:00:00 GMT",
        "Date: Wed, 25 Nov 2026 10:00:01 GMT",
        "Content-Length: 5", "Content-Length: 6", "Content-Length: x", "Transfer-Encoding: chunked",
        "Content-Encoding: gzip", "Set-Cookie: id=secret", "A:", "A: \u{E9}", " folded", "\tfolded",
        "Bad name: 1", "A: b\0c", "X-Long: " + String(repeating: "y", count: 3_000),
    ]

    private static func read(_ lines: [String], _ memory: FieldMemory?) -> Reading {
        var response = ResponseGuard(byteLimit: 262_144, memory: memory)
        var reading = Reading()
        for line in lines {
            var bytes = Array((line + "\r\n").utf8)
            let result = bytes.withUnsafeMutableBytes { bytes in
                Result { () throws(DataLoaderError) in
                    try response.receive(UnsafeRawBufferPointer(bytes))
                }
            }
            switch result {
            case .success(.informational(let head)), .success(.final(let head)):
                reading.heads.append(head.headers.fields)
            case .success(nil): break
            case .failure(let error):
                reading.failure = error
                return reading
            }
        }
        reading.framing = response.framing
        reading.isEncoded = response.isEncoded
        return reading
    }

    @Test func `responses read the same with a memory of those before as without`() {
        let memory = FieldMemory()
        property { generator in
            // Most responses are like the one before, as a memory expects.
            var lines = ["HTTP/1.1 200 OK"]
            if Int.random(in: 0..<8, using: &generator) == 0 {
                lines = ["HTTP/1.1 103 Early Hints", "Server: nginx", "", "HTTP/1.1 200 OK"]
            }
            for line in Self.lines.prefix(2) where Bool.random(using: &generator) {
                lines.append(line)
            }
            for _ in 0..<Int.random(in: 0..<6, using: &generator) {
                lines.append(Self.lines.randomElement(using: &generator) ?? "")
            }
            lines.append("")
            let (with, without) = (Self.read(lines, memory), Self.read(lines, nil))
            return with == without ? nil : "\(lines) is \(with), not \(without)"
        }
    }

    @Test func `a line that is the same again is not parsed again`() throws {
        let memory = FieldMemory()
        let head = ["HTTP/1.1 200 OK", "Server: nginx", "Content-Length: 5", "Set-Cookie: a=b", ""]
        let first = Self.read(head, memory)
        // Lengths are read each time, and a cookie is not kept.
        #expect(memory.count == 1)
        #expect(Self.read(head, memory) == first)
        var line = Array("Server: nginx".utf8)
        let known = line.withUnsafeMutableBytes {
            memory.field(at: 0, like: UnsafeRawBufferPointer($0))
        }
        #expect(known?.value == "nginx")
    }

    @Test func `a memory is bounded, whatever a server sends`() {
        let memory = FieldMemory()
        let many = (0..<900).map { "X-\($0): \($0)" }
        #expect(Self.read(["HTTP/1.1 200 OK"] + many + [""], memory).failure == nil)
        #expect(memory.count == FieldMemory.lineLimit)
        let long = (0..<40).map { "X-\($0): " + String(repeating: "z", count: 200) }
        #expect(Self.read(["HTTP/1.1 200 OK"] + long + [""], memory).failure == nil)
        #expect(memory.count <= FieldMemory.byteLimit / 200)
    }
}
