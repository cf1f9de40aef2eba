// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import DataLoadingTransport
    import Dispatch
    import Foundation
    import Testing

    /// What a loop tells of itself.
    @Suite struct LoopFiguresTests {
        private let second: Int64 = 1_000_000_000

        @Test func `connections are counted for their origins until the last is closed`() throws {
            let figures = LoopFigures()
            let origins = try ["https://a.test", "https://b.test"].map {
                try RequestTarget(text: $0).origin
            }
            for origin in origins + origins.prefix(1) { figures.opened(origin) }
            #expect(figures.connectionsByOrigin == [origins[0]: 2, origins[1]: 1])
            for origin in origins { figures.closed(origin) }
            #expect(figures.connectionsByOrigin == [origins[0]: 1])
            // One more than were opened counts for nothing.
            for _ in 0..<2 { figures.closed(origins[0]) }
            #expect(figures.connectionsByOrigin == [:])
        }

        @Test func `a long round is told for a minute, unless a longer one comes`() {
            let figures = LoopFigures()
            #expect(figures.longestRound(at: 0) == 0)
            figures.note(connections: 2, transfers: 1, from: 0, to: 50)
            figures.note(connections: 3, transfers: 2, from: 100, to: 120)
            #expect(figures.openConnections == 3 && figures.runningTransfers == 2)
            #expect(figures.longestRound(at: second) == 50)
            figures.note(connections: 0, transfers: 0, from: second, to: second + 70)
            #expect(figures.longestRound(at: 2 * second) == 70)
            // The next round after a minute takes its place, however short.
            figures.note(connections: 0, transfers: 0, from: 62 * second, to: 62 * second + 5)
            #expect(figures.longestRound(at: 63 * second) == 5)
            // A loop that has slept since has nothing to tell.
            #expect(figures.longestRound(at: 130 * second) == 0)
        }
    }

    extension SocketTests {
        /// What a transport tells of its loops.
        @Suite struct LoopFiguresSocketTests {
            @Test
            func `a transport counts its connections and attempts, and the time of a slow sink`()
                async throws
            {
                let gate = DispatchSemaphore(value: 0)
                let server = try LoopbackServer { request in
                    guard request.path != "/last" else {
                        return .status(200, headers: ["Connection": "close"])
                    }
                    gate.wait()
                    return .ok("a")
                }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                #expect(service.snapshot().transport?.openConnections == 0)
                // The test may have to wait for a thread among all the others.
                let request = DataLoaderRequest.make("", host: server.url().absoluteString) {
                    $0.timeout = .seconds(1_800)
                    $0.idleTimeout = .seconds(1_800)
                }
                async let response = loader.response(for: request)
                await eventually { service.snapshot().transport?.runningAttempts == 1 }
                let origin = try RequestTarget(server.url()).origin
                #expect(service.snapshot().transport?.openConnections == 1)
                // It counts once something is sent on it.
                await eventually { service.snapshot().transport?.connections == [origin: 1] }
                gate.signal()
                #expect(try await response.statusCode == .ok)
                await eventually { service.snapshot().transport?.runningAttempts == 0 }
                let idle = service.snapshot().transport
                #expect(idle?.openConnections == 1 && idle?.longestRound ?? .zero > .zero)
                #expect(idle?.connections == [origin: 1])
                var last = request
                last.url = server.url("/last")
                #expect(try await loader.response(for: last).statusCode == .ok)
                await eventually { service.snapshot().transport?.connections == [:] }
                await service.shutDown(gracePeriod: .zero)
                #expect(service.snapshot().transport?.openConnections == 0)
                #expect(service.snapshot().transport?.connections == [:])
            }
        }
    }
#endif
