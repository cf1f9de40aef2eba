// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// One attempt finds out for all which protocol a server speaks, and does not delay them
        /// for long.
        @Suite struct CurlLeaderTests {
            private let scene: RouteScene
            private let http2 = HTTP2Peer { _, stream in HTTP2Peer.response(stream, "fine") }

            init() throws {
                scene = try RouteScene()
            }

            // Like a balancer that sends some connections to a machine that is down.
            @Test func `a first attempt whose handshake is never answered fails no other`()
                async throws
            {
                let isJoined = try await unhurried { try await join(pace: $0) }
                #expect(isJoined)
            }

            /// Returns false when the machine was so slow that a fourth handshake began.
            private func join(pace: Int) async throws -> Bool {
                let http2 = http2
                let server = try scene.server(
                    .perConnection { $0 < 2 ? .silent : http2.script }, isHTTP2: { _ in true })
                // The third handshake has four times as long before a fourth one begins.
                let transport = CurlTransport(
                    idle: IdleConnections(leaderTime: .milliseconds(400 * pace)))
                var slow = try scene.attempt(server)
                slow.connectTimeout = .seconds(3_600)
                let first = AttemptRecorder()
                let second = AttemptRecorder()
                // One after the other: the second is first in the queue when the time of the first
                // is over.
                let tasks = [
                    transport.start(slow, sink: first), transport.start(slow, sink: second),
                ]
                let records = try await scene.burst(7, transport, server)
                #expect(records.allSatisfy { $0.text == "fine" })
                // There is a connection to join, so attempts that hang delay no other.
                let later = try await scene.burst(7, transport, server)
                #expect(later.allSatisfy { $0.text == "fine" })
                let count = server.connectionCount
                #expect(first.record.endings + second.record.endings == 0)
                for task in tasks { task.cancel() }
                #expect(await first.ended().failure?.sent == .nothingWritten)
                _ = await second.ended()
                return count == 3
            }

            // An outage that kept connections outlive.
            @Test func `kept connections of HTTP/1.1 are used though no other can be made`()
                async throws
            {
                let isFull = Locked(false)
                let server = try scene.server(
                    .perConnection { _ in
                        isFull.withLock { $0 } ? .silent : RouteScene.echo
                    }, isHTTP2: { _ in false })
                let transport = CurlTransport(
                    idle: IdleConnections(
                        protocolMemory: .seconds(1), leaderTime: .milliseconds(100)))
                while server.openConnectionCount < 4 {
                    for record in try await scene.burst(8, transport, server) {
                        #expect(record.error == nil)
                    }
                }
                isFull.withLock { $0 = true }
                let before = server.connectionCount
                let begun = ContinuousClock.now
                // Until one attempt has probed for HTTP/2 without success.
                while server.connectionCount == before, .now - begun < .seconds(60) * patience {
                    for record in try await scene.burst(2, transport, server) {
                        #expect(record.error == nil)
                    }
                }
                #expect(server.connectionCount > before)
            }

            @Test func `a probe for HTTP/2 that cannot connect uses a kept connection`()
                async throws
            {
                let server = try scene.server(RouteScene.echo, isHTTP2: { _ in false })
                let transport = CurlTransport(
                    idle: IdleConnections(protocolMemory: .milliseconds(500)))
                var record = await transport.run(try scene.attempt(server, "a"))
                while !record.report.reusedConnection {
                    record = await transport.run(try scene.attempt(server, "a"))
                }
                // The server cuts the probe's handshake off at once.
                server.setScript(.reset)
                let before = server.connectionCount
                let begun = ContinuousClock.now
                while server.connectionCount == before, .now - begun < .seconds(60) * patience {
                    #expect(await transport.run(try scene.attempt(server, "b")).text == "/b")
                }
                #expect(server.connectionCount > before)
            }
        }
    }
#endif
