// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingTransport
    @testable import DataLoadingAuth
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A large body is announced with Expect, and an early response is delivered.
        @Suite struct CurlExpectTests {
            private let transport = CurlTransport()
            private static let threshold = Int(TransportRequest.largeBody)

            private func post(
                _ body: RequestBody, to server: LoopbackServer, expects: Bool = true
            ) async -> AttemptRecorder.Record {
                var attempt = TransportRequest(method: .post, url: server.url())
                attempt.body = body
                attempt.expectsContinue = expects
                return await transport.run(attempt)
            }

            @Test func `Expect is sent before bodies of 1 MiB or of unknown length`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok() }
                let large = patternBytes(Self.threshold)
                let cases: [(RequestBody, Bool, Bool)] = [
                    (.data(large), true, true), (.data(large.dropLast()), true, false),
                    (.data(Data("x".utf8)), true, false), (.data(large), false, false),
                    (.stream { InputStream(data: Data("x".utf8)) }, true, true),
                    (.stream(length: 1) { InputStream(data: Data("x".utf8)) }, true, false),
                ]
                var headSizes: [(size: Int64, isAsked: Bool)] = []
                for (index, (body, expects, isAsked)) in cases.enumerated() {
                    let record = await post(body, to: server, expects: expects)
                    #expect(record.error == nil)
                    headSizes.append((record.report.headBytesReceived, isAsked))
                    let request = await server.waitForRequests(index + 1)[index]
                    #expect(request.headers["Expect"] == (isAsked ? "100-continue" : nil))
                    #expect(request.isComplete)
                }
                // The 100 is counted with the head that follows it.
                let plain = headSizes.first { !$0.isAsked }?.size ?? 0
                for head in headSizes { #expect((head.size > plain) == head.isAsked) }
                let isWhole = server.requests.first?.body == large
                #expect(isWhole)
            }

            @Test func `Expect is sent over TLS too when the server speaks HTTP/1.1`() async throws
            {
                let scene = try RouteScene()
                let server = try scene.server(RouteScene.echo, isHTTP2: { _ in false })
                for (size, isAsked) in [(Self.threshold, true), (Self.threshold - 1, false)] {
                    var attempt = try scene.attempt(server, "\(size)", .never)
                    attempt.method = .post
                    attempt.expectsContinue = true
                    attempt.body = .data(patternBytes(size))
                    #expect(await transport.run(attempt).text == "/\(size)")
                    let request = server.requests.first { $0.target == "/\(size)" }
                    #expect(request?.headers["Expect"] == (isAsked ? "100-continue" : nil))
                }
            }

            // No byte of the body is on the wire then.
            @Test(arguments: [401, 413, 417, 307])
            func `an early response to Expect is delivered and no body is sent`(
                status: Int
            ) async throws {
                let limit = Duration.milliseconds(900)
                let usual = try await usually {
                    let server = try LoopbackServer(
                        handler: LoopbackHandler(
                            early: { _ in
                                .status(status, headers: ["Connection": "close"], body: "no")
                            }, otherwise: { _ in .ok() }))
                    let began = ContinuousClock.now
                    let record = await post(.data(patternBytes(3_000_000)), to: server)
                    let time = record.time(since: began)
                    #expect(record.head?.status.rawValue == status)
                    #expect(record.error == nil)
                    #expect(record.text == "no")
                    let request = await server.waitForRequests(1)[0]
                    #expect(server.requestCount == 1)
                    // After a second the body is sent, even if the answer was only delayed.
                    guard time < limit else { return time }
                    #expect(record.report.bodyBytesSent == 0)
                    #expect(request.bodyLength == 0)
                    return time
                }
                #expect(usual.time < limit, "\(usual)")
            }

            @Test func `nothing more is sent after a 417 on a connection that stays open`()
                async throws
            {
                let server = try LoopbackServer(
                    handler: LoopbackHandler(
                        early: { _ in
                            .steps(
                                .head(417, headers: ["Content-Length": "2"]), .content("no"), .stall
                            )
                        },
                        otherwise: { _ in .ok() }))
                var attempt = TransportRequest(method: .put, url: server.url())
                attempt.body = .stream { InputStream(data: patternBytes(100_000)) }
                let record = await transport.run(attempt)
                #expect(record.head?.status.rawValue == 417)
                #expect(record.error == nil)
                // libcurl reads the body of a 417 and does not deliver it.
                #expect(server.requestCount == 1)
                await transport.shutDown()
                #expect(await server.waitForRequests(1)[0].bodyLength == 0)
            }

            @Test func `an upload waits no longer than a second for the answer to Expect`()
                async throws
            {
                let answer = LoopbackResponse([.readBody()] + LoopbackResponse.ok("whole").steps)
                let usual = try await usually(rounds: 3) {
                    let server = try LoopbackServer(
                        handler: LoopbackHandler(early: { _ in answer }, otherwise: { _ in .ok() }))
                    let began = ContinuousClock.now
                    let record = await post(.data(patternBytes(2_000_000)), to: server)
                    #expect(record.text == "whole")
                    #expect(await server.waitForRequests(1)[0].bodyLength == 2_000_000)
                    let time = record.time(since: began)
                    #expect(time >= .milliseconds(950))
                    return time
                }
                #expect(usual.keeps(.milliseconds(1_250)), "\(usual)")
            }

            /// When a server that refuses a body resets the connection, and what it sends before.
            enum Refusal: String, CaseIterable {
                case asked, unasked, closing, closingInPieces
            }

            /// Refuses after some of the body, or before it, and resets the connection.
            private static func refuse(
                _ refusal: Refusal, isConfirmed: Bool
            ) throws -> LoopbackServer {
                var head: HTTPHeaders = ["Content-Length": "8"]
                if refusal != .asked && refusal != .unasked { head["Connection"] = "close" }
                let pieces: [LoopbackStep] =
                    refusal == .closingInPieces
                    ? [.flush, .confirmed, .content("too "), .flush, .confirmed, .content("much")]
                    : [.content("too much")]
                let steps =
                    [.readBody(atMost: refusal == .asked ? 0 : 100_000), .head(413, headers: head)]
                    + pieces + (isConfirmed ? [.flush, .confirmed, .reset] : [.flush, .reset])
                return try LoopbackServer(
                    handler: LoopbackHandler(
                        early: { _ in LoopbackResponse(steps) }, otherwise: { _ in .ok() }))
            }

            // A reset does not discard what the client's system has received.
            @Test(arguments: Refusal.allCases)
            func `an early 413 is delivered although the connection is reset behind it`(
                refusal: Refusal
            ) async throws {
                let server = try Self.refuse(refusal, isConfirmed: true)
                for round in 1...20 {
                    let record = await post(
                        .data(patternBytes(3_000_000)), to: server, expects: refusal == .asked)
                    #expect(record.error == nil)
                    #expect(record.head?.status.rawValue == 413)
                    #expect(record.text == "too much")
                    #expect(record.report.bodyBytesReceived == 8)
                    #expect(record.endings == 1 && record.late == 0)
                    #expect(server.requestCount == round)
                }
                await transport.shutDown()
            }

            @Test(arguments: Refusal.allCases)
            func `a reset that races with a 413 ends as either, and nothing is sent again`(
                refusal: Refusal
            ) async throws {
                let server = try Self.refuse(refusal, isConfirmed: false)
                for round in 1...20 {
                    let record = await post(
                        .data(patternBytes(3_000_000)), to: server, expects: refusal == .asked)
                    #expect(record.error == nil || record.error == .connectionReset)
                    if record.error == nil {
                        #expect(record.head?.status.rawValue == 413)
                        #expect(record.text == "too much")
                    }
                    #expect(record.endings == 1 && record.late == 0)
                    #expect(server.requestCount == round)
                }
                await transport.shutDown()
            }

            // libcurl continues to send after a head that announces the close of the connection,
            // which by then is closed.
            @Test func `the rest of a response is delivered although the next write fails`()
                async throws
            {
                let body = patternBytes(20_000_000)
                for _ in 0..<20 {
                    let hasHead = LoopbackGate()
                    let steps: [LoopbackStep] = [
                        .readBody(atMost: 1_000_000),
                        .head(413, headers: ["Content-Length": "8", "Connection": "close"]),
                        .wait(for: hasHead), .content("too much"), .flush, .confirmed, .reset,
                    ]
                    let server = try LoopbackServer(
                        handler: LoopbackHandler(
                            early: { _ in LoopbackResponse(steps) }, otherwise: { _ in .ok() }))
                    let sink = AttemptRecorder(onHead: { _ in
                        hasHead.open()
                        while server.openConnectionCount > 0 { usleep(100) }
                    })
                    var attempt = TransportRequest(method: .post, url: server.url())
                    attempt.body = .data(body)
                    attempt.expectsContinue = false
                    _ = transport.start(attempt, sink: sink)
                    let record = await sink.ended()
                    #expect(record.error == nil)
                    #expect(record.text == "too much")
                }
                await transport.shutDown()
            }

            // The server wants no more, and waits for the client to notice.
            @Test(arguments: [true, false])
            func `a complete response ends an upload that the server stopped reading`(
                isStream: Bool
            ) async throws {
                let server = try LoopbackServer(
                    handler: LoopbackHandler(
                        early: { _ in
                            .steps(
                                .readBody(atMost: 1),
                                .head(
                                    413, headers: ["Content-Length": "2", "Connection": "close"]),
                                .content("no"), .stall)
                        }, otherwise: { _ in .ok() }))
                let bytes = patternBytes(20_000_000)
                let record = await post(
                    isStream ? .stream { InputStream(data: bytes) } : .data(bytes), to: server,
                    expects: false)
                #expect(record.error == nil)
                #expect(record.head?.status.rawValue == 413)
                #expect(record.text == "no")
                // The server reads no more: had the upload continued, it would have ended as idle.
                #expect(record.report.bodyBytesSent < 20_000_000)
                #expect(server.requestCount == 1)
                await transport.shutDown()
                // The end of the connection is queued behind bytes that the server does not read.
                server.stop()
            }
        }
    }
#endif
