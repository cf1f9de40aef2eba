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
        /// The error of each fault of a peer, and how much of the request was sent.
        @Suite struct CurlFaultTests {
            private let transport = CurlTransport()

            private func run(_ script: LoopbackScript) async throws -> AttemptRecorder.Record {
                let server = try LoopbackServer(script: script)
                var attempt = TransportRequest(url: server.url())
                attempt.idleTimeout = .seconds(60)
                let record = await transport.run(attempt)
                #expect(record.endings == 1)
                return record
            }

            private func answer(_ response: LoopbackResponse) async throws -> AttemptRecorder.Record
            {
                try await run(.answers([response]))
            }

            private func raw(_ head: String, _ steps: LoopbackStep...) async throws
                -> AttemptRecorder.Record
            {
                try await answer(LoopbackResponse([.bytes(.text(head))] + steps))
            }

            @Test func `a name without an address ends as dns`() async throws {
                let transport = CurlTransport(lookup: { _ in .unknown })
                let record = try await transport.get(.host("nowhere.test"))
                #expect(record.error == .dns)
                #expect(record.failure?.sent == .nothingWritten)
            }

            @Test func `a resolver that does not answer ends as dns at the connect limit`()
                async throws
            {
                let answer = DispatchSemaphore(value: 0)
                let transport = CurlTransport(lookup: { _ in
                    answer.wait()
                    return .unknown
                })
                var attempt = try TransportRequest(url: .host("silent.test"))
                attempt.connectTimeout = .milliseconds(50)
                let record = await transport.run(attempt)
                #expect(record.error == .dns)
                #expect(record.failure?.sent == .nothingWritten)
                answer.signal()
            }

            @Test func `a refused connection ends as refused, with nothing written`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                server.goDown()
                let record = await transport.get(server.url())
                #expect(record.error == .connectRefused)
                #expect(record.failure?.sent == .nothingWritten)
            }

            @Test func `a host that never answers ends as a connect timeout, soon after its limit`()
                async throws
            {
                let hole = try LoopbackBlackHole()
                var attempt = TransportRequest(url: hole.url())
                attempt.connectTimeout = .milliseconds(100)
                let usual = try await usually {
                    let start = ContinuousClock.now
                    let record = await transport.run(attempt)
                    #expect(record.error == .connectTimeout)
                    #expect(record.failure?.sent == .nothingWritten)
                    return record.time(since: start)
                }
                #expect(usual.keeps(.milliseconds(200)), "\(usual)")
            }

            @Test func `a connection that closes without a byte ends as no response`() async throws
            {
                let record = try await answer(.steps(.close))
                #expect(record.error == .noResponse)
                #expect(record.failure?.sent == .written)
            }

            @Test(arguments: ["HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Le"])
            func `a reset inside the head ends as a reset`(head: String) async throws {
                let record = try await raw(head, .flush, .reset)
                #expect(record.error == .connectionReset)
                #expect(record.failure?.sent == .written)
            }

            @Test(arguments: [
                "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
            ])
            func `an end inside the head ends as a truncated head`(head: String) async throws {
                let record = try await raw(head, .close)
                #expect(record.error == .truncatedHead)
                #expect(record.failure?.sent == .written)
            }

            @Test
            func `an end inside the status line, which libcurl hides, ends as no response`()
                async throws
            {
                let record = try await raw("HTTP/1.1 20", .close)
                #expect(record.error == .noResponse)
                #expect(record.failure?.sent == .written)
            }

            @Test func `a reset inside the body ends as a reset, after the bytes before it`()
                async throws
            {
                let received = LoopbackGate()
                let server = try LoopbackServer { _ in
                    .status(200, headers: ["Content-Length": "10"], body: "12345")
                        .followed(by: .flush, .wait(for: received), .reset)
                }
                let sink = AttemptRecorder(onBytes: { _ in received.open() })
                _ = transport.start(TransportRequest(url: server.url()), sink: sink)
                let record = await sink.ended()
                #expect(record.error == .connectionReset)
                #expect(record.failure?.sent == .headReceived)
                #expect(record.text == "12345")
            }

            @Test(arguments: [10, 60_000_000_000] as [Int64])
            func `a body with fewer bytes than declared ends as truncated`(length: Int64)
                async throws
            {
                let server = try LoopbackServer { _ in .truncated("12345", declaring: length) }
                var attempt = TransportRequest(url: server.url())
                attempt.bodyLimit = nil
                let record = await transport.run(attempt)
                #expect(record.error == .truncatedBody)
                #expect(record.failure?.sent == .headReceived)
                #expect(record.text == "12345")
            }

            @Test(arguments: ["xyz\r\n", "-5\r\nhello\r\n", "FFFFFFFFFFFFFFFFFF\r\nhello\r\n"])
            func `an invalid chunk size ends as a framing error`(chunk: String) async throws {
                let record = try await raw(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk, .close)
                #expect(record.error?.isFraming == true)
                #expect(record.failure?.sent == .headReceived)
            }

            @Test func `a body without its last chunk ends as truncated`() async throws {
                let record = try await raw(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .close)
                #expect(record.error == .truncatedBody)
            }

            @Test func `a head that comes too slowly, byte by byte, ends as idle`() async throws {
                let server = try LoopbackServer { _ in
                    .steps(.drip("HTTP/1.1 200 OK\r\n", every: .seconds(60)))
                }
                var attempt = TransportRequest(url: server.url())
                attempt.idleTimeout = .milliseconds(50)
                let record = await transport.run(attempt)
                #expect(record.error == .idleTimeout)
                #expect(record.failure?.sent == .written)
            }

            @Test func `a stall before the head closes the socket soon after the idle limit`()
                async throws
            {
                let server = try LoopbackServer { _ in .steps(.stall) }
                var attempt = TransportRequest(url: server.url())
                attempt.idleTimeout = .milliseconds(100)
                var connections = 0
                let usual = try await usually {
                    let start = ContinuousClock.now
                    let record = await transport.run(attempt)
                    #expect(record.error == .idleTimeout)
                    #expect(record.failure?.sent == .written)
                    connections += 1
                    await server.waitForClosedConnections(connections)
                    let time = record.time(since: start)
                    #expect(time >= .milliseconds(100))
                    return time
                }
                #expect(usual.keeps(.milliseconds(200)), "\(usual)")
            }

            @Test func `a stall inside the body ends as idle, with the head received`() async throws
            {
                let server = try LoopbackServer { _ in
                    .status(200, headers: ["Content-Length": "9"], body: "123").followed(by: .stall)
                }
                var attempt = TransportRequest(url: server.url())
                attempt.idleTimeout = .milliseconds(100)
                var hasHead = false
                while !hasHead, !Task.isCancelled {
                    let record = await transport.run(attempt)
                    #expect(record.error == .idleTimeout)
                    // The limit includes the head, with which a busy machine may be late.
                    hasHead = record.head != nil
                    #expect(record.failure?.sent == (hasHead ? .headReceived : .written))
                }
            }

            @Test func `bytes that are not HTTP end as a framing error`() async throws {
                for seed in 0..<20 as Range<UInt64> {
                    let record = try await answer(.raw(.garbage(4_096, seed: seed)))
                    #expect(
                        record.error?.isFraming == true, "seed \(seed): \(record.failure as Any)")
                    #expect(record.failure?.sent == .written)
                }
            }

            @Test func `a body without a head, as in HTTP 0.9, ends as a framing error`()
                async throws
            {
                let record = try await raw("just text", .close)
                #expect(record.error?.isFraming == true)
            }

            @Test func `a head line of a megabyte ends as a head too large`() async throws {
                let line = LoopbackPayload.repeating(Array("a".utf8), count: 1_000_000)
                let record = try await answer(
                    .raw("HTTP/1.1 200 OK\r\nX: " + line + "\r\n\r\n"))
                #expect(record.error == .headTooLarge)
                #expect(record.failure?.sent == .written)
            }

            @Test(arguments: [100_000, 1_001])
            func `a head with too many fields ends as a head too large`(count: Int) async throws {
                let lines = LoopbackPayload.repeating(Array("A: b\r\n".utf8), count: count)
                let record = try await answer(.raw("HTTP/1.1 200 OK\r\n" + lines + "\r\n"))
                #expect(record.error == .headTooLarge)
            }

            @Test func `a head past its limit ends as a head too large`() async throws {
                let server = try LoopbackServer { _ in .ok(headers: ["X": "123456789"]) }
                var attempt = TransportRequest(url: server.url())
                attempt.headLimit = 40
                #expect(await transport.run(attempt).error == .headTooLarge)
            }

            @Test func `endless informational responses end as a framing error`() async throws {
                let endless = LoopbackPayload.repeating(
                    Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8), count: 5_000)
                let record = try await answer(.raw(endless))
                #expect(record.error?.isFraming == true)
                #expect(record.report.headBytesReceived == 33 * 28)
            }

            @Test func `a body after a 204 is not delivered`() async throws {
                let record = try await raw("HTTP/1.1 204 No Content\r\n\r\nhello", .close)
                #expect(record.error == nil)
                #expect(record.body.isEmpty)
            }

            @Test func `an unrequested 304 is delivered like any other response`() async throws {
                let record = try await answer(.status(304, headers: ["ETag": "x"]))
                #expect(record.error == nil)
                #expect(record.head?.status == .notModified)
            }

            @Test(arguments: [
                "HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\nContent-Length: 2\r\n\r\nok",
                "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
                "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nok",
                "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
                "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok",
                "HTTP/1.0 200 OK\r\n\r\nok",
            ])
            func `unusual but unambiguous heads are delivered`(response: String) async throws {
                let record = try await raw(response, .close)
                #expect(record.error == nil)
                #expect(record.text == "ok")
            }

            @Test(arguments: [
                "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            ])
            func `malformed fields end as a framing error`(head: String) async throws {
                #expect(try await raw(head, .close).error?.isFraming == true)
            }
        }
    }

    extension DataLoaderError {
        var isFraming: Bool { if case .framing = self.kind { true } else { false } }
        var isDecode: Bool { if case .decode = self.kind { true } else { false } }
        var isRequestBody: Bool { if case .requestBody = self.kind { true } else { false } }
        var isResources: Bool { if case .resources = self.kind { true } else { false } }
        var isUnsupported: Bool { if case .unsupported = self.kind { true } else { false } }
    }
#endif
