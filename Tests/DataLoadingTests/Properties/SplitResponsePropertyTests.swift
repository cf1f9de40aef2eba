// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoading
    @testable import DataLoadingTesting
    import Foundation
    import Testing

    /// A response is read the same, however it is split on its way.
    @Suite struct SplitResponsePropertyTests {
        /// Decodes gzip that arrives in pieces, with a buffer of the given size.
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

        /// The bytes between the places.
        private static func pieces(_ bytes: [UInt8], _ cuts: [Int]) -> [ArraySlice<UInt8>] {
            zip([0] + cuts, cuts + [bytes.count]).map { bytes[$0..<$1] }
        }

        @Test func `gzip decodes to the same bytes, however it is split`() {
            let zeros = LoopbackPayload.gzipBomb(inflatedCount: 700)
            let plain = [UInt8](patternBytes(40)) + [UInt8](repeating: 0, count: 700)
            let short = Self.bytes(.gzip(Array(plain.prefix(40))) + zeros)
            for first in 0...short.count {
                for second in first...short.count {
                    let decoded = Self.decode(Self.pieces(short, [first, second]), room: 64)
                    guard decoded == plain else {
                        Issue.record("cut at \(first) and \(second)")
                        return
                    }
                }
            }
            let long = [UInt8](patternBytes(300)) + plain
            let coded = Self.bytes(.gzip(Array(long.prefix(300)))) + short
            property { generator in
                let cuts = places(of: coded.count, atMost: 60, using: &generator)
                let room = Int.random(in: 1...400, using: &generator)
                return Self.decode(Self.pieces(coded, cuts), room: room) == long ? nil : "\(cuts)"
            }
        }

        // Heads are not split here: libcurl joins their lines, which the socket tests below cover.
        @Test(arguments: BodyMode.allCases)
        func `a body is the same in every mode, however it is split`(mode: BodyMode) async {
            let body = patternBytes(300)
            for seed in 0..<UInt64(max(20, propertyCases / 50)) {
                var generator = SeededGenerator(seed: seed)
                let cuts =
                    [0] + places(of: body.count, atMost: 90, using: &generator) + [body.count]
                let load = BodyLoad(
                    mode,
                    [
                        .run { attempt in
                            attempt.sendHead(status: 200, headers: ["Content-Length": "300"])
                            for (start, end) in zip(cuts, cuts.dropFirst()) {
                                attempt.send(body[start..<end])
                            }
                            attempt.end()
                        }
                    ])
                let response = await load.outcome()
                #expect(response?.error == nil, "seed \(seed)")
                #expect(response?.metrics.decodedBytes == 300, "seed \(seed)")
                #expect(load.body == body, "seed \(seed)")
            }
        }
    }

    /// Ascending places to split at, at most `most` apart.
    private func places(
        of count: Int, atMost most: Int, using generator: inout SeededGenerator
    ) -> [Int] {
        var cuts: [Int] = []
        var place = Int.random(in: 1...most, using: &generator)
        while place < count {
            cuts.append(place)
            place += Int.random(in: 1...most, using: &generator)
        }
        return cuts
    }

    extension SocketTests {
        @Suite struct SplitResponseSocketPropertyTests {
            private static let responses: [String] = [
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 11\r\nX-A: b\r\nX-A: c\r\n\r\nhello world",
                "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n"
                    + "Transfer-Encoding: chunked\r\nX-Folded: a\r\n b\r\n\r\n"
                    + "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n",
                "HTTP/1.0 404 Not Found\r\n\r\nuntil the end",
                "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
            ]

            /// The events of an attempt, without how its body was split.
            private static func heard(_ record: AttemptRecorder.Record) -> [String] {
                let heads = [record.head].compactMap { $0 }.map { head in
                    "\(head.status.rawValue) "
                        + head.headers.fields.map { "\($0.name)=\($0.value)" }.joined(
                            separator: "&")
                }
                // The bytes of informational heads and trailers are counted with the head's.
                let headBytes = "\(record.report.headBytesReceived)"
                return heads
                    + [headBytes, record.text, "\(record.error.map { "\($0)" } ?? "whole")"]
            }

            /// A response whose pieces are sent separately.
            private static func answer(_ bytes: [UInt8], _ cuts: [Int]) -> [LoopbackStep] {
                zip([0] + cuts, cuts + [bytes.count]).flatMap { start, end -> [LoopbackStep] in
                    [.bytes(.bytes(Array(bytes[start..<end]))), .flush]
                }
            }

            @Test(arguments: responses)
            func `a response is read the same, however it is split on the wire`(response: String)
                async throws
            {
                let bytes = [UInt8](response.utf8)
                let cuts = Locked<[Int]>([])
                let server = try LoopbackServer { _ in
                    LoopbackResponse(Self.answer(bytes, cuts.withLock { $0 }) + [.close])
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

            // Each piece is a TLS record, and libcurl reads one record at a time.
            @Test(
                .enabled(if: TestIdentity.all != nil, "OpenSSL is not installed"),
                arguments: ["chunked", "coded"])
            func `a response is read the same, however it is split into TLS records`(
                form: String
            ) async throws {
                let identity = try #require(TestIdentity.all?[.good])
                let bytes = Self.kept(isCoded: form == "coded")
                let cuts = Locked<[Int]>([])
                let handler = LoopbackHandler { _ in
                    LoopbackResponse(Self.answer(bytes, cuts.withLock { $0 }))
                }
                let server = try LoopbackServer(
                    script: .serve(handler), cipher: LoopbackTLS.cipher(identity))
                let transport = CurlTransport()
                var request = TransportRequest(
                    url: testURL("https://\(FaultScene.host):\(server.port)/"))
                request.address = "127.0.0.1:\(server.port)"
                request.serverTrustPolicy = ServerTrustPolicy(
                    certificateAuthorities: identity.authority)
                let whole = Self.heard(await transport.run(request))
                #expect(whole.contains("whole"))
                var generator = SeededGenerator(seed: 20_260_101)
                let spots = 1..<bytes.count
                let pairs = (0..<(propertyCases / 50)).map { _ in
                    [spots, spots].map { Int.random(in: $0, using: &generator) }.sorted()
                }
                let many = (0..<(propertyCases / 20)).map { _ in
                    places(of: bytes.count, atMost: 40, using: &generator)
                }
                for plan in spots.map({ [$0] }) + pairs + many + [Array(spots)] {
                    cuts.withLock { $0 = plan }
                    let heard = Self.heard(await transport.run(request))
                    guard heard == whole else {
                        Issue.record("\(plan): \(heard)")
                        break
                    }
                }
                // One connection for all: no response left bytes to the next one.
                #expect(server.connectionCount == 1)
                await transport.shutDown()
                server.stop()
            }

            /// A response that keeps its connection open.
            private static func kept(isCoded: Bool) -> [UInt8] {
                let head = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n"
                guard isCoded else {
                    return Array(
                        (head + "Transfer-Encoding: chunked\r\nX-Folded: a\r\n b\r\n\r\n"
                            + "5;x=y\r\nhello\r\n006\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n").utf8)
                }
                var body: [UInt8] = []
                let payload =
                    LoopbackPayload.gzip(Array("hello ".utf8))
                    + .gzipBomb(inflatedCount: 300)
                payload.forEachSlice { body += $0 }
                let fields = "Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
                return Array((head + fields).utf8) + body
            }
        }
    }
#endif
