// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
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

            /// A payload's bytes, by the one that serves them.
            private func raw(_ payload: LoopbackPayload) async throws -> Data {
                let server = try LoopbackServer { _ in .ok(payload) }
                return await transport.get(server.url()).body
            }

            @Test func `undoes gzip, and counts both sizes`() async throws {
                let payload = LoopbackPayload.gzip(bytes)
                let record = try await load(payload)
                #expect(record.error == nil)
                #expect(record.body == Data(bytes))
                #expect(record.report.bodyBytesReceived == payload.count)
                #expect(record.report.decodedBytes == 100_000)
                #expect(record.head?.headers["Content-Encoding"] == "gzip")
            }

            @Test func `undoes several codings, up to five`() async throws {
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

            @Test(arguments: [1, 9, 10, 11, 50_000, 99_999]) func `refuses gzip that is cut off`(
                count: Int
            ) async throws {
                let record = try await load(cut(.gzip(bytes), to: count))
                #expect(record.error?.isDecode == true)
                #expect(record.failure?.sent == .headReceived)
            }

            @Test func `refuses gzip that is broken, or goes on with something else`() async throws
            {
                #expect(try await load("no gzip at all").error?.isDecode == true)
                #expect(try await load(.gzip(bytes) + "rest").error?.isDecode == true)
                var damaged = try await raw(.gzip(bytes))
                damaged[damaged.count - 6] ^= 1
                #expect(try await load(.data(damaged)).error?.isDecode == true)
            }

            @Test func `takes several gzip members for one body`() async throws {
                let record = try await load(.gzip(bytes) + .gzip(bytes))
                #expect(record.body == Data(bytes + bytes))
            }

            @Test func `undoes deflate, in zlib's format and raw`() async throws {
                // "hello", stored, without and with zlib's header and checksum.
                let raw: [UInt8] = [1, 5, 0, 0xFA, 0xFF] + Array("hello".utf8)
                let zlib: [UInt8] = [0x78, 0x01] + raw + [0x06, 0x2C, 0x02, 0x15]
                #expect(try await load(.bytes(raw), coding: "deflate").text == "hello")
                #expect(try await load(.bytes(zlib), coding: "deflate").text == "hello")
            }

            @Test func `stops a bomb at the cap`() async throws {
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

            @Test func `refuses a coding that nobody asked for`() async throws {
                #expect(try await load("x", coding: "br").error?.isDecode == true)
                #expect(try await load("x", coding: "identity").text == "x")
                // White space is no part of a list's names, and makes none of two.
                #expect(try await load("x", coding: " identity\t, ").text == "x")
                #expect(try await load("x", coding: "iden tity").error?.isDecode == true)
            }

            @Test func `takes no body at all for a whole one`() async throws {
                #expect(try await load("").error == nil)
                let server = try LoopbackServer { _ in
                    .ok(.gzip([1]), headers: ["Content-Encoding": "gzip"])
                }
                let head = await transport.run(TransportRequest(method: .head, url: server.url()))
                #expect(head.error == nil)
            }

            // Nobody can decode a part of an encoded body.
            @Test func `asks for no coding where the caller asks for a range`() async throws {
                let server = try LoopbackServer { _ in .status(206, body: "part") }
                var attempt = TransportRequest(url: server.url())
                attempt.headers = ["range": "bytes=5-"]
                #expect(await transport.run(attempt).text == "part")
                #expect(
                    await server.waitForRequests(1)[0].headers.values(for: "Accept-Encoding") == [
                        "identity"
                    ])
            }

            @Test func `leaves the body alone where the caller set Accept-Encoding`() async throws {
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
