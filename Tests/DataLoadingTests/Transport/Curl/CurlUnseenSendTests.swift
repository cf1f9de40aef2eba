// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Limits hold with a libcurl below 7.80, which tells nobody when it sends.
        @Suite struct CurlUnseenSendTests {
            private let transport = CurlTransport(lacking: [.seeingSends])

            @Test func `an answer may take longer than the limit to connect`() async throws {
                let server = try LoopbackServer { _ in
                    .steps(
                        .pause(.milliseconds(150)), .head(200, headers: ["Content-Length": "4"]),
                        .flush, .pause(.milliseconds(150)), .bytes("fine"))
                }
                var attempt = TransportRequest(url: server.url())
                attempt.connectTimeout = .milliseconds(100)
                let record = await transport.run(attempt)
                #expect(record.error == nil)
                #expect(record.text == "fine")
            }

            @Test func `the idle limit holds, before a head and after it`() async throws {
                let mute = try LoopbackServer { _ in .steps(.stall) }
                let breaking = try LoopbackServer { _ in
                    .steps(.head(200, headers: ["Content-Length": "4"]), .flush, .stall)
                }
                let cases: [(LoopbackServer, Duration, SentState)] = [
                    (mute, .milliseconds(100), .written),
                    // As long as a head may take to come.
                    (breaking, .milliseconds(300), .headReceived),
                ]
                for (server, limit, sent) in cases {
                    var attempt = TransportRequest(url: server.url())
                    attempt.idleTimeout = limit * patience
                    attempt.connectTimeout = .seconds(3_600)
                    let record = await transport.run(attempt)
                    #expect(record.error == .idleTimeout)
                    #expect(record.failure?.sent == sent)
                }
            }

            @Test func `the limit to connect holds`() async throws {
                let scene = try RouteScene()
                let server = try scene.server(.silent, isHTTP2: { _ in false })
                var attempt = try scene.attempt(server)
                attempt.connectTimeout = .milliseconds(100)
                attempt.idleTimeout = .milliseconds(20)
                let record = await transport.run(attempt)
                #expect(record.error == .connectTimeout)
                #expect(record.failure?.sent == .nothingWritten)
            }
        }
    }
#endif
