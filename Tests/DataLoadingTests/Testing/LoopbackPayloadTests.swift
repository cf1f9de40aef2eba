// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    @Suite struct LoopbackPayloadTests {
        @Test func `a payload pattern is sent without being held and is recognised by the reader`()
            throws
        {
            let length: Int64 = 50_000_000
            let server = try LoopbackServer { _ in .untilClose(.pattern(length)) }
            let client = try RawClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            _ = try client.response()
            var offset: Int64 = 0
            var isAsMeant = true
            let ending = client.readToEnd { bytes in
                if !LoopbackPayload.patternMatches(Data(bytes), at: offset) { isAsMeant = false }
                offset += Int64(bytes.count)
            }
            #expect(ending == .closed)
            #expect(offset == length)
            #expect(isAsMeant)
            #expect(server.connections[0].bytesSent == length + 19)
        }

        @Test func `a payload pattern detects a byte at the wrong offset`() {
            let block = Data([UInt8](repeating: 0, count: 100))
            #expect(!LoopbackPayload.patternMatches(block, at: 5))
            #expect(LoopbackPayload.patternMatches(Data(), at: 5))
        }

        @Test func `a payload repeats bytes a given number of times`() throws {
            let payload = LoopbackPayload.repeating(Array("abc".utf8), count: 40_000) + "."
            #expect(payload.count == 120_001)
            let server = try LoopbackServer { _ in .raw(payload) }
            let client = try RawClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(
                client.readToEnd().text == String(repeating: "abc", count: 40_000) + ".")
        }

        // gzip 1.12 inflated the expected bytes and checked their checksums.

        @Test func `a gzip payload wraps bytes without compressing them`() throws {
            let hello = try served(.gzip(Array("hello".utf8)))
            #expect(hello.base64EncodedString() == "H4sIAAAAAAAA/wEFAPr/aGVsbG+GphA2BQAAAA==")
        }

        @Test func `a gzip bomb payload inflates to the given size`() throws {
            let one = try served(.gzipBomb(inflatedCount: 1))
            #expect(one.base64EncodedString() == "H4sIAAAAAAAA/+3AgQAAAACAoP2pF6kGje8C0gEAAAA=")
            // One zero, five copies of 258 and nine zeros.
            let some = try served(.gzipBomb(inflatedCount: 1300))
            #expect(
                some.base64EncodedString() == "H4sIAAAAAAAA/+3AgQAAAACAoP2pF6kAqKpqo+5jABQFAAA=")
        }

        @Test func `a gzip bomb payload of two gigabytes stays small`() throws {
            let bomb = try served(.gzipBomb(inflatedCount: 1 << 31))
            #expect(bomb.count == 2_080_929)
            #expect([UInt8](bomb.suffix(8)) == [0x1C, 0xF2, 0xBD, 0x4D, 0, 0, 0, 0x80])
        }

        private func served(_ payload: LoopbackPayload) throws -> Data {
            let server = try LoopbackServer { _ in .ok(payload) }
            return Data(try RawClient(port: server.port).get().body)
        }
    }
}
