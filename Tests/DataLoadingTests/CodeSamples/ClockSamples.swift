// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of a clock that moves by itself.

@Suite struct ClockSamples {
    @Test func `the sample of an automatic advance passes the pauses between retries`()
        async throws
    {
        let feed = testURL("https://example.com/feed")
        let clock = ManualClock()
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport([.respond(status: 503), .respond(status: 200)])
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let loader = service.makeFactory().makeDataLoader()
        var request = DataLoaderRequest(url: feed)
        request.retryPolicy = .constant(.seconds(30), maximumRetries: 1)
        let response = try await clock.autoAdvance {
            try await loader.response(for: request)  // 503, a pause of its retry policy, 200
        }
        #expect(response.statusCode == 200)
        #expect(clock.elapsed == .seconds(30))
    }
}
