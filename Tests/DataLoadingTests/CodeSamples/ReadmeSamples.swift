// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples in README.md.

final class NewsReader: Sendable {
    // Keep both: a dropped loader cancels its loads, and a service holds its observers weakly.
    private let loader: DataLoader
    private let log = ConsumptionLogger()

    init(host: URL, service: DataLoaderService = .shared) {
        service.rateLimiter.setRequestsPerSecond(5, forHostOf: host)
        service.addConsumptionObserver(log, on: DispatchQueue(label: "log"))
        loader = service.makeFactory().makeDataLoader()
    }

    func fetch(_ feed: URL) async throws -> Data {
        // Throws for a 404 or a 500; `response(for:)` gives the response, whatever its status.
        try await loader.request(feed, sourceIdentifier: "feed")
            .modify { $0.maximumRetryCount = 3 }.validateStatusCode().responseData()
    }
}

@Suite struct ReadmeSamples {
    private let feed = testURL("http://feed.test/latest")

    @Test func `a load succeeds when it is retried after a 503`() async throws {
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
    /// The samples in README.md that need a socket.
    @Suite struct ReadmeSocketSamples {
        @Test func `the reader in the README fetches a feed and sets the rate of the whole host`()
            async throws
        {
            let server = try LoopbackServer { _ in .ok("news") }
            defer { server.stop() }
            let service = DataLoaderService()
            let origin = server.url()
            let reader = NewsReader(host: origin, service: service)
            #expect(try await reader.fetch(server.url("/feed")) == Data("news".utf8))
            for path in ["/", "/news", "/news/today", "/weather?x"] {
                #expect(service.rateLimiter.requestsPerSecond(for: server.url(path)) == 5)
            }
            await service.shutDown(gracePeriod: .zero)
        }

        @Test(arguments: [404, 500])
        func `the reader in the README takes no error page for a feed`(status: Int) async throws {
            let server = try LoopbackServer { _ in .status(status, body: "no news") }
            defer { server.stop() }
            let service = DataLoaderService()
            let reader = NewsReader(host: server.url(), service: service)
            let error = DataLoaderError.status(HTTPStatus(rawValue: status))
            await #expect(throws: error) { try await reader.fetch(server.url("/feed")) }
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
