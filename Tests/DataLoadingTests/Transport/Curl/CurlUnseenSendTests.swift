// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// The limits apply with a libcurl below 7.80, which does not report its sends.
        @Suite struct CurlUnseenSendTests {
            private let transport = CurlTransport(lacking: [.refusingSends])

            @Test func `a response may take longer than the connect limit`() async throws {
                let isWhole = try await unhurried { pace in
                    let pause = LoopbackStep.pause(.milliseconds(150 * pace))
                    let server = try LoopbackServer { _ in
                        .steps(
                            pause, .head(200, headers: ["Content-Length": "4"]), .flush, pause,
                            .bytes("fine"))
                    }
                    var attempt = TransportRequest(url: server.url())
                    attempt.connectTimeout = .milliseconds(100 * pace)
                    let record = await transport.run(attempt)
                    return record.error == nil && record.text == "fine"
                }
                #expect(isWhole)
            }

            @Test func `the idle limit applies before a head and after it`() async throws {
                let mute = try LoopbackServer { _ in .steps(.stall) }
                let breaking = try LoopbackServer { _ in
                    .steps(.head(200, headers: ["Content-Length": "4"]), .flush, .stall)
                }
                let cases: [(LoopbackServer, Duration, SentState)] = [
                    (mute, .milliseconds(100), .written),
                    // As long as a head may take.
                    (breaking, .milliseconds(300), .headReceived),
                ]
                for (server, limit, sent) in cases {
                    let isSent = await unhurried { pace in
                        var attempt = TransportRequest(url: server.url())
                        attempt.idleTimeout = limit * patience * pace
                        attempt.connectTimeout = .seconds(3_600)
                        let record = await transport.run(attempt)
                        #expect(record.error == .idleTimeout)
                        return record.failure?.sent == sent
                    }
                    #expect(isSent)
                }
            }

            @Test func `the connect limit applies`() async throws {
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
