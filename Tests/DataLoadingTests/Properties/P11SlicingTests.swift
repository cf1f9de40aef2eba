// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    @testable import DataLoadingTesting
    import Foundation
    import Testing

    /// P11: however a response is cut on its way, what is heard of it is the same.
    @Suite struct P11SlicingTests {
        /// Decodes gzip that arrives in pieces, through a buffer of a size.
        private static func decode(_ pieces: [ArraySlice<UInt8>], room: Int) -> [UInt8]? {
            guard let decoder = try? ContentDecoder.make(contentEncoding: "gzip") else {
                return nil
            }
            var output: [UInt8] = []
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
            defer { buffer.deallocate() }
            do {
                for piece in pieces {
                    piece.withUnsafeBytes { decoder.append($0) }
                    while case .output(let count) = try decoder.decode(into: buffer) {
                        output += buffer[..<count]
                    }
                }
                try decoder.finish()
                return output
            } catch {
                return nil
            }
        }

        private static func bytes(_ payload: LoopbackPayload) -> [UInt8] {
            var bytes: [UInt8] = []
            payload.forEachSlice { bytes += $0 }
            return bytes
        }

        @Test func `P11 gzip decodes to the same, cut anywhere`() {
            let plain = [UInt8](patternBytes(300))
            let coded = Self.bytes(.gzip(plain) + .gzip(Array("and another member".utf8)))
            let whole = plain + Array("and another member".utf8)
            for cut in 0...coded.count {
                #expect(Self.decode([coded[..<cut], coded[cut...]], room: 64) == whole, "\(cut)")
            }
            property(cases: propertyCases / 10) { generator in
                var pieces: [ArraySlice<UInt8>] = []
                var start = 0
                while start < coded.count {
                    let end = min(coded.count, start + Int.random(in: 1...60, using: &generator))
                    pieces.append(coded[start..<end])
                    start = end
                }
                let room = Int.random(in: 1...400, using: &generator)
                return Self.decode(pieces, room: room) == whole ? nil : "\(pieces.map(\.count))"
            }
        }
    }

    extension SocketTests {
        @Suite struct P11SlicingOnSocketsTests {
            private static let responses: [String] = [
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 11\r\nX-A: b\r\nX-A: c\r\n\r\nhello world",
                "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n"
                    + "Transfer-Encoding: chunked\r\nX-Folded: a\r\n b\r\n\r\n"
                    + "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n",
                "HTTP/1.0 404 Not Found\r\n\r\nuntil the end",
                "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
            ]

            /// What an attempt heard, without how its body was cut.
            private static func heard(_ record: AttemptRecorder.Record) -> [String] {
                let heads = (record.informational + [record.head].compactMap { $0 }).map { head in
                    "\(head.status.rawValue) "
                        + head.headers.fields.map { "\($0.name)=\($0.value)" }.joined(
                            separator: "&")
                }
                let trailers = record.end?.trailers.fields.map { "\($0.name)=\($0.value)" } ?? []
                return heads + [record.text, "\(record.error.map { "\($0)" } ?? "whole")"]
                    + trailers
            }

            @Test(arguments: responses)
            func `P11 a response says the same, cut anywhere`(response: String) async throws {
                let bytes = [UInt8](response.utf8)
                let cuts = Locked<[Int]>([])
                let server = try LoopbackServer { _ in
                    var steps: [LoopbackStep] = []
                    var start = 0
                    for end in cuts.withLock({ $0 }) + [bytes.count] where end > start {
                        steps += [.bytes(.bytes(Array(bytes[start..<end]))), .flush]
                        start = end
                    }
                    return LoopbackResponse(steps + [.close])
                }
                let transport = CurlTransport()
                let whole = Self.heard(await transport.get(server.url()))
                #expect(whole.contains("whole"))
                var generator = SeededGenerator(seed: 20_260_101)
                let plans =
                    (1..<bytes.count).map { [$0] } + [Array(1..<bytes.count)]
                    + (0..<(propertyCases / 200)).map { _ in
                        (1..<bytes.count).filter { _ in Bool.random(using: &generator) }
                    }
                for plan in plans {
                    cuts.withLock { $0 = plan }
                    #expect(Self.heard(await transport.get(server.url())) == whole, "\(plan)")
                }
                await transport.shutDown()
            }
        }
    }
#endif
