// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // ST-01: a large body is asked for, and an early answer is heard.
        @Suite struct CurlExpectTests {
            private let transport = CurlTransport()
            private static let threshold = Int(ExpectContinue.threshold)

            private func post(
                _ body: RequestBody, to server: LoopbackServer, expects: Bool = true
            ) async -> AttemptRecorder.Record {
                var attempt = TransportRequest(method: .post, url: server.url())
                attempt.body = body
                attempt.expectsContinue = expects
                return await transport.run(attempt)
            }

            @Test func `is asked for bodies of a mebibyte or of unknown length`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                let large = patternBytes(Self.threshold)
                let cases: [(RequestBody, Bool, Bool)] = [
                    (.data(large), true, true), (.data(large.dropLast()), true, false),
                    (.data(Data("x".utf8)), true, false), (.data(large), false, false),
                    (.stream { InputStream(data: Data("x".utf8)) }, true, true),
                    (.stream(length: 1) { InputStream(data: Data("x".utf8)) }, true, false),
                ]
                for (index, (body, expects, isAsked)) in cases.enumerated() {
                    let record = await post(body, to: server, expects: expects)
                    #expect(record.error == nil)
                    #expect(record.informational.map(\.status.rawValue) == (isAsked ? [100] : []))
                    let request = await server.waitForRequests(index + 1)[index]
                    #expect(request.headers["Expect"] == (isAsked ? "100-continue" : nil))
                    #expect(request.isComplete)
                }
                let isWhole = server.requests.first?.body == large
                #expect(isWhole)
            }

            // Fault matrix, row 39: without a byte of the body on the wire.
            @Test(arguments: [401, 413, 417, 307])
            func `is answered early: the status is delivered and no body sent`(
                status: Int
            ) async throws {
                let server = try LoopbackServer(
                    handler: LoopbackHandler(
                        early: { _ in
                            .status(status, headers: ["Connection": "close"], body: "no")
                        }, otherwise: { _ in .ok() }))
                let record = await post(.data(patternBytes(3_000_000)), to: server)
                #expect(record.head?.status.rawValue == status)
                #expect(record.error == nil)
                #expect(record.text == "no")
                #expect(record.report.bodyBytesSent == 0)
                let request = await server.waitForRequests(1)[0]
                #expect(request.bodyLength == 0)
                #expect(server.requestCount == 1)
            }

            @Test func `a 417 on a connection that stays open is sent nothing more`() async throws {
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
                // libcurl reads the body of a 417 and keeps it to itself.
                #expect(server.requestCount == 1)
                await transport.shutDown()
                #expect(await server.waitForRequests(1)[0].bodyLength == 0)
            }

            @Test func `waits no longer than a second for an answer`() async throws {
                let answer = LoopbackResponse([.readBody()] + LoopbackResponse.ok("whole").steps)
                let server = try LoopbackServer(
                    handler: LoopbackHandler(early: { _ in answer }, otherwise: { _ in .ok() }))
                let began = ContinuousClock.now
                let record = await post(.data(patternBytes(2_000_000)), to: server)
                let time = record.time(since: began)
                #expect(record.text == "whole")
                #expect(time >= .milliseconds(950))
                #expect(time < .seconds(3))
                #expect(await server.waitForRequests(1)[0].bodyLength == 2_000_000)
            }

            // Fault matrix, row 39: the server has had enough in the middle of the body.
            @Test(arguments: [true, false])
            func `an early 413 is heard though the connection is reset behind it`(
                expects: Bool
            ) async throws {
                let server = try LoopbackServer(
                    handler: LoopbackHandler(
                        early: { _ in
                            .steps(
                                .readBody(atMost: expects ? 0 : 100_000),
                                .head(413, headers: ["Content-Length": "8"]), .content("too much"),
                                .flush, .reset)
                        }, otherwise: { _ in .ok() }))
                var heard = 0
                for _ in 0..<20 {
                    let record = await post(
                        .data(patternBytes(3_000_000)), to: server, expects: expects)
                    // A reset may overtake the answer; then there is nothing left to read.
                    guard record.error != .connectionReset else { continue }
                    #expect(record.head?.status.rawValue == 413)
                    #expect(record.text == "too much")
                    #expect(record.error == nil)
                    heard += 1
                }
                #expect(heard >= (expects ? 20 : 10) / patience)
            }
        }
    }
#endif
