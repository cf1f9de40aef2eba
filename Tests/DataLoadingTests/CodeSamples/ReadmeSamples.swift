// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of README.md.

func fetch(_ feed: URL, with service: DataLoaderService) async throws -> Data? {
    service.rateLimiter.setRequestsPerSecond(5, for: feed)
    let loader = service.makeFactory().makeDataLoader()
    var request = DataLoaderRequest(url: feed, sourceIdentifier: "feed")
    request.maximumRetryCount = 3
    return try await loader.response(for: request).body
}

@Suite struct ReadmeSamples {
    private let feed = testURL("http://feed.test/latest")

    @Test func `comes back after a 503`() async throws {
        let clock = ManualClock()
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport([.respond(status: 503), .respond(status: 200)])
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let loader = service.makeFactory().makeDataLoader()
        var request = DataLoaderRequest(url: feed)
        request.retryPolicy = .constant(.seconds(5), maximumRetries: 1)
        async let response = loader.response(for: request)
        await clock.waitForAlarms(1, within: .seconds(5))
        clock.advance(by: .seconds(5))
        #expect(try await response.statusCode == .ok)
    }
}

extension SocketTests {
    /// Those of README.md that need a socket.
    @Suite struct ReadmeSocketSamples {
        @Test func `fetches from a real socket`() async throws {
            let server = try LoopbackServer { _ in .ok("news") }
            defer { server.stop() }
            let service = DataLoaderService()
            #expect(try await fetch(server.url("/feed"), with: service) == Data("news".utf8))
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
