// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        @Suite struct CurlDecodingTests {
            private let transport = CurlTransport()
            private let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }

            private func load(
                _ payload: LoopbackPayload, coding: String = "gzip"
            ) async throws -> AttemptRecorder.Record {
                let server = try LoopbackServer { _ in
                    .ok(payload, headers: ["Content-Encoding": coding])
                }
                return await transport.get(server.url())
            }

            private func cut(_ payload: LoopbackPayload, to count: Int) async throws
                -> LoopbackPayload
            {
                .data(try await raw(payload).prefix(count))
            }

            /// Returns a payload's bytes, as the server sends them.
            private func raw(_ payload: LoopbackPayload) async throws -> Data {
                let server = try LoopbackServer { _ in .ok(payload) }
                return await transport.get(server.url()).body
            }

            @Test func `a gzip body is decoded, and both its sizes are counted`() async throws {
                let payload = LoopbackPayload.gzip(bytes)
                let record = try await load(payload)
                #expect(record.error == nil)
                #expect(record.body == Data(bytes))
                #expect(record.report.bodyBytesReceived == payload.count)
                #expect(record.report.decodedBytes == 100_000)
                #expect(record.head?.headers["Content-Encoding"] == "gzip")
            }

            @Test func `a body with up to five codings is decoded`() async throws {
                var payload = LoopbackPayload.gzip(bytes)
                for depth in 2...6 {
                    payload = .gzip([UInt8](try await raw(payload)))
                    let coding = Array(repeating: "gzip", count: depth).joined(separator: ", ")
                    let record = try await load(payload, coding: coding)
                    if depth <= 5 {
                        #expect(record.body == Data(bytes))
                    } else {
                        #expect(record.error?.isDecode == true)
                    }
                }
            }

            @Test(arguments: [1, 9, 10, 11, 50_000, 99_999])
            func `a gzip body that is cut off is refused`(
                count: Int
            ) async throws {
                let record = try await load(cut(.gzip(bytes), to: count))
                #expect(record.error?.isDecode == true)
                #expect(record.failure?.sent == .headReceived)
            }

            @Test func `a gzip body that is broken or followed by other bytes is refused`()
                async throws
            {
                #expect(try await load("no gzip at all").error?.isDecode == true)
                #expect(try await load(.gzip(bytes) + "rest").error?.isDecode == true)
                var damaged = try await raw(.gzip(bytes))
                damaged[damaged.count - 6] ^= 1
                #expect(try await load(.data(damaged)).error?.isDecode == true)
            }

            @Test func `several gzip members are decoded as one body`() async throws {
                let record = try await load(.gzip(bytes) + .gzip(bytes))
                #expect(record.body == Data(bytes + bytes))
            }

            @Test func `a deflate body is decoded in zlib's format and raw`() async throws {
                // "hello", stored, without and with zlib's header and checksum.
                let raw: [UInt8] = [1, 5, 0, 0xFA, 0xFF] + Array("hello".utf8)
                let zlib: [UInt8] = [0x78, 0x01] + raw + [0x06, 0x2C, 0x02, 0x15]
                #expect(try await load(.bytes(raw), coding: "deflate").text == "hello")
                #expect(try await load(.bytes(zlib), coding: "deflate").text == "hello")
            }

            @Test func `a decompression bomb is stopped at the body limit`() async throws {
                let server = try LoopbackServer { _ in
                    .ok(
                        .gzipBomb(inflatedCount: 2_000_000_000),
                        headers: ["Content-Encoding": "gzip"])
                }
                var attempt = TransportRequest(url: server.url())
                attempt.bodyLimit = 1_000_000
                let record = await transport.run(attempt)
                #expect(record.error == .bodyTooLarge(limit: 1_000_000))
                #expect(record.byteCount <= 1_000_000)
            }

            @Test func `a content coding that was not requested is refused`() async throws {
                #expect(try await load("x", coding: "br").error?.isDecode == true)
                #expect(try await load("x", coding: "identity").text == "x")
                // White space is no part of a list's names, and separates none.
                #expect(try await load("x", coding: " identity\t, ").text == "x")
                #expect(try await load("x", coding: "iden tity").error?.isDecode == true)
            }

            @Test func `an empty body with a content coding is complete`() async throws {
                #expect(try await load("").error == nil)
                let server = try LoopbackServer { _ in
                    .ok(.gzip([1]), headers: ["Content-Encoding": "gzip"])
                }
                let head = await transport.run(TransportRequest(method: .head, url: server.url()))
                #expect(head.error == nil)
            }

            // A part of an encoded body cannot be decoded.
            @Test func `a request for a range asks for no content coding`() async throws {
                let server = try LoopbackServer { _ in .status(206, body: "part") }
                var attempt = TransportRequest(url: server.url())
                attempt.headers = ["range": "bytes=5-"]
                #expect(await transport.run(attempt).text == "part")
                #expect(
                    await server.waitForRequests(1)[0].headers.values(for: "Accept-Encoding") == [
                        "identity"
                    ])
            }

            @Test func `a request with its own Accept-Encoding gets the encoded body`() async throws
            {
                let payload = LoopbackPayload.gzip(bytes)
                let server = try LoopbackServer { _ in
                    .ok(payload, headers: ["Content-Encoding": "gzip"])
                }
                var attempt = TransportRequest(url: server.url())
                attempt.headers = ["Accept-Encoding": "gzip"]
                let record = await transport.run(attempt)
                #expect(Int64(record.body.count) == payload.count)
                #expect(
                    await server.waitForRequests(1)[0].headers.values(for: "Accept-Encoding") == [
                        "gzip"
                    ])
            }
        }
    }
#endif
