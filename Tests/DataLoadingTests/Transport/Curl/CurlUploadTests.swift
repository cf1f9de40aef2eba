// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        @Suite struct CurlUploadTests {
            private let transport = CurlTransport()
            private let directory = TemporaryDirectory()
            private static let pattern = [UInt8](unsafeUninitializedCapacity: 1_000_000) {
                buffer, count in
                for index in 0..<1_000_000 {
                    buffer[index] = UInt8(truncatingIfNeeded: index % 251)
                }
                count = 1_000_000
            }
            private var bytes: Data { Data(Self.pattern) }

            private func post(
                _ body: RequestBody, to server: LoopbackServer
            ) async -> AttemptRecorder.Record {
                var attempt = TransportRequest(method: .post, url: server.url())
                attempt.body = body
                return await transport.run(attempt)
            }

            private func file(_ bytes: Data) throws -> URL {
                try directory.write(bytes, to: UUID().uuidString)
            }

            @Test(arguments: [0, 1, 14, 16_384, 16_385, 1_000_000])
            func `a body of any size is sent`(
                size: Int
            ) async throws {
                let server = try LoopbackServer { _ in .ok("done") }
                let body = bytes.prefix(size)
                let record = await post(.data(body), to: server)
                #expect(record.text == "done")
                let request = await server.waitForRequests(1)[0]
                #expect(request.body == body)
                #expect(request.headers["Content-Length"] == "\(size)")
                #expect(request.headers["Expect"] == nil)
                #expect(request.headers["Content-Type"] == nil)
                #expect(record.report.bodyBytesSent == Int64(size))
                #expect(record.report.headBytesSent == Int64(request.rawHead.count))
            }

            @Test func `a slice of bytes is sent from its start`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                let slice = bytes[500_000..<600_000]
                #expect(await post(.data(slice), to: server).error == nil)
                #expect(await server.waitForRequests(1)[0].body == slice)
            }

            @Test(arguments: [0, 70_000, 1_000_000]) func `a file is sent with its length`(
                size: Int
            )
                async throws
            {
                let server = try LoopbackServer { _ in .ok() }
                let file = try file(bytes.prefix(size))
                defer { try? FileManager.default.removeItem(at: file) }
                let record = await post(.file(file), to: server)
                #expect(record.error == nil)
                let request = await server.waitForRequests(1)[0]
                #expect(request.body == bytes.prefix(size))
                #expect(request.headers["Content-Length"] == "\(size)")
                #expect(request.headers["Expect"] == nil)
                #expect(record.report.bodyBytesSent == Int64(size))
            }

            @Test(arguments: [nil, 1_000_000] as [Int64?])
            func `a stream is sent with its length or in chunks`(length: Int64?) async throws {
                let server = try LoopbackServer { _ in .ok() }
                let record = await post(
                    .stream(length: length) { InputStream(data: bytes) }, to: server)
                #expect(record.error == nil)
                let request = await server.waitForRequests(1)[0]
                #expect(request.body == bytes)
                #expect(request.headers["Transfer-Encoding"] == (length == nil ? "chunked" : nil))
                #expect(request.headers["Content-Length"] == length.map { "\($0)" })
            }

            @Test func `a one-shot stream is sent once`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                let body = RequestBody.oneShot(OneShotStream(InputStream(data: bytes)))
                #expect(await post(body, to: server).error == nil)
                let second = await post(body, to: server)
                #expect(second.error?.isRequestBody == true)
                #expect(second.failure?.sent == .nothingWritten)
                #expect(server.requestCount == 1)
            }

            @Test(arguments: [999_999, 1_000_001, 10_000_000] as [Int64])
            func `a stream with a wrong declared length fails`(length: Int64) async throws {
                let server = try LoopbackServer { _ in .ok() }
                let record = await post(
                    .stream(length: length) { InputStream(data: bytes) }, to: server)
                #expect(record.error?.isRequestBody == true)
                #expect(record.failure?.sent == .written)
                #expect(await server.waitForRequests(1)[0].isComplete == false)
            }

            @Test func `a body that cannot be opened is not sent at all`() async throws {
                struct Missing: Error {}
                let server = try LoopbackServer { _ in .ok() }
                let nowhere = directory.url("nowhere")
                for body in [
                    RequestBody.file(nowhere), .file(directory.url),
                    .stream { throw Missing() },
                    .stream { InputStream(fileAtPath: "/nowhere/x") ?? InputStream(data: Data()) },
                ] {
                    let record = await post(body, to: server)
                    #expect(record.error?.isRequestBody == true)
                    #expect(record.failure?.sent == .nothingWritten)
                }
                #expect(server.connectionCount == 0)
            }

            @Test func `a stream that blocks delays no other load`() async throws {
                let server = try LoopbackServer { _ in .ok("other") }
                let stream = BlockingStream(data: Data("ab".utf8))
                var attempt = TransportRequest(method: .post, url: server.url())
                attempt.body = .stream(length: 2) { stream.opened }
                let sink = AttemptRecorder()
                _ = transport.start(attempt, sink: sink)
                await stream.reached.opened()
                #expect(await transport.get(server.url()).text == "other")
                #expect(sink.record.endings == 0)
                stream.mayGoOn.signal()
                #expect(await sink.ended().text == "other")
            }

            @Test func `an upload that only the kernel still sends does not time out as idle`()
                async throws
            {
                var configuration = LoopbackServer.Configuration()
                configuration.receiveBufferSize = 65_536
                let isWhole = try await unhurried { pace in
                    let pause = LoopbackStep.pause(.milliseconds(150 * pace))
                    let reading = (0..<10).flatMap { _ in
                        [LoopbackStep.readBody(atMost: 100_000), pause]
                    }
                    let answer = LoopbackResponse(
                        reading + [.readBody()] + LoopbackResponse.ok().steps)
                    let server = try LoopbackServer(
                        configuration,
                        handler: LoopbackHandler(early: { _ in answer }, otherwise: { _ in .ok() }))
                    var attempt = TransportRequest(method: .post, url: server.url())
                    attempt.body = .data(bytes)
                    attempt.idleTimeout = .milliseconds(500 * pace)
                    return await transport.run(attempt).error == nil
                }
                #expect(isWhole)
            }

            @Test func `a response that comes before the body is sent is delivered`() async throws {
                let server = try LoopbackServer(
                    handler: LoopbackHandler(
                        early: { _ in .status(413, headers: ["Connection": "close"]) },
                        otherwise: { _ in .ok() }))
                let record = await post(.data(bytes), to: server)
                #expect(record.head?.status.rawValue == 413)
            }

            /// Uploads a stream without bytes to a server that refuses it early.
            private func upload(
                answeredBy steps: [LoopbackStep],
                expectsContinue: Bool = true
            ) async throws -> (AttemptRecorder.Record, LoopbackServer, BlockingStream) {
                let server = try LoopbackServer(
                    handler: LoopbackHandler(
                        early: { _ in LoopbackResponse(steps) }, otherwise: { _ in .ok() }))
                let stream = BlockingStream(data: Data("ab".utf8))
                var attempt = TransportRequest(method: .post, url: server.url())
                attempt.body = .stream { stream.opened }
                attempt.expectsContinue = expectsContinue
                let record = await transport.run(attempt)
                #expect(record.error == nil)
                #expect(record.head?.status.rawValue == 413)
                return (record, server, stream)
            }

            @Test(arguments: [nil, "close"], [0, 2])
            func `an early response is delivered while the stream has no bytes`(
                connection: String?, length: Int
            ) async throws {
                var headers: HTTPHeaders = ["Content-Length": "\(length)"]
                headers["Connection"] = connection
                let steps: [LoopbackStep] = [
                    .head(413, headers: headers), .content(.data(bytes.prefix(length))), .stall,
                ]
                let (record, server, stream) = try await upload(answeredBy: steps)
                #expect(record.body == bytes.prefix(length))
                stream.mayGoOn.signal()
                #expect(server.requestCount == 1)
                await transport.shutDown()
            }

            /// How a response delimits its body.
            enum Framing: CaseIterable {
                case empty, length, chunks
            }

            // Only the stream delays the body here.
            @Test(arguments: [nil, "close"], Framing.allCases)
            func `a response ends an upload that waits for its stream`(
                connection: String?, framing: Framing
            ) async throws {
                var headers: HTTPHeaders = [:]
                headers["Connection"] = connection
                let answer: LoopbackResponse =
                    switch framing {
                    case .empty: .status(413, headers: headers)
                    case .length: .status(413, headers: headers, body: "no")
                    case .chunks: .chunked(["no"], status: 413, headers: headers)
                    }
                let steps = [.readBody(atMost: 1)] + answer.steps + [.stall]
                let (record, server, stream) = try await upload(
                    answeredBy: steps, expectsContinue: false)
                #expect(record.text == (framing == .empty ? "" : "no"))
                stream.mayGoOn.signal()
                #expect(await server.waitForRequests(1)[0].isComplete == false)
                #expect(server.requestCount == 1)
                await transport.shutDown()
            }

            @Test(arguments: [HTTPMethod.head, .trace])
            func `a body with a method that has none is refused`(
                method: HTTPMethod
            ) async throws {
                let server = try LoopbackServer { _ in .ok() }
                var attempt = TransportRequest(method: method, url: server.url())
                attempt.body = .data(Data("x".utf8))
                #expect(await transport.run(attempt).error == .invalidRequest(.body))
            }

            @Test func `a GET with a body is sent`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                var attempt = TransportRequest(url: server.url())
                attempt.body = .data(Data("query".utf8))
                #expect(await transport.run(attempt).error == nil)
                let request = await server.waitForRequests(1)[0]
                #expect(request.method == .get)
                #expect(request.text == "query")
            }
        }
    }
#endif
