// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Dispatch
    import Testing

    extension SocketTests {
        /// Streams of one HTTP/2 connection that wait for different times.
        @Suite struct HTTP2IdleTests {
            private let scene: RouteScene

            init() throws {
                scene = try RouteScene()
            }

            @Test(.timeLimit(.minutes(15)))
            func `a stream that may not wait any longer leaves one that may on its connection`()
                async throws
            {
                let mayAnswer = DispatchSemaphore(value: 0)
                // While it waits with the second answer, it reads nothing on that connection.
                let peer = HTTP2Peer { request, stream in
                    let answer = HTTP2Peer.response(stream, "\(request)")
                    return request == 1 ? [.wait(mayAnswer)] + answer : answer
                }
                let server = try scene.server(peer.script, isHTTP2: { _ in true })
                let transport = CurlTransport()
                #expect(await transport.run(try scene.attempt(server)).text == "0")
                var patient = try scene.attempt(server)
                patient.idleTimeout = .seconds(3_600)
                let waiting = AttemptRecorder()
                _ = transport.start(patient, sink: waiting)
                await eventually { peer.requests == 2 }
                var hasty = try scene.attempt(server)
                // A connection counts as silent after a second.
                hasty.idleTimeout = .milliseconds(1_050)
                let ended = await transport.run(hasty)
                #expect(ended.error == .idleTimeout)
                #expect(ended.report.reusedConnection)
                #expect(waiting.record.endings == 0)
                #expect(server.openConnectionCount == 1)
                // Later ones use another connection while this one is silent.
                let later = await transport.run(try scene.attempt(server))
                #expect(later.text == "2")
                #expect(!later.report.reusedConnection)
                mayAnswer.signal()
                let record = await waiting.ended()
                #expect(record.error == nil)
                #expect(record.text == "1")
                #expect(record.report.reusedConnection)
                #expect(server.connectionCount == 2)
                await transport.shutDown()
            }
        }
    }
#endif
