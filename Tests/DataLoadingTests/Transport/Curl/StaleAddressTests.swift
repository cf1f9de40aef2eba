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
        /// Attempts that continue with the addresses of an earlier answer.
        @Suite struct StaleAddressTests {
            // Nothing else happens on the loop that would make it check limits.
            @Test func `the connect limit holds for stale addresses while name servers are silent`()
                async throws
            {
                let blocker = Blocker()
                defer { blocker.release() }
                let isSilent = Locked(false)
                var lifetimes = NameLifetimes()
                lifetimes.fresh = 1
                lifetimes.staleAnswerDelay = 20_000_000
                let transport = CurlTransport(
                    names: lifetimes,
                    lookup: { _ in
                        if isSilent.withLock({ $0 }) { blocker.block() }
                        return .addresses(["127.0.0.1"])
                    })
                let server = try LoopbackServer { _ in .ok("fine") }
                let hole = try LoopbackBlackHole()
                func url(_ port: UInt16) throws -> URL {
                    try #require(URL(string: "http://origin.test:\(port)/"))
                }
                #expect(await transport.get(try url(server.port)).text == "fine")
                isSilent.withLock { $0 = true }
                var attempt = TransportRequest(url: try url(hole.port))
                attempt.connectTimeout = .milliseconds(200)
                let begun = ContinuousClock.now
                let record = await transport.run(attempt)
                #expect(record.error == .connectTimeout)
                // The system gives up after two minutes.
                #expect(ContinuousClock.now - begun < .seconds(20) * patience)
                #expect(!blocker.gaveUp)
            }
        }
    }
#endif
