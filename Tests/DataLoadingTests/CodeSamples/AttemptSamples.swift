// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct AttemptSamples {
    @Test func `each attempt of a load can be printed`() async throws {
        let bed = TestBed([
            .respond(status: 302, headers: ["Location": "/b"]), .respond(status: 200),
        ])
        let response = try await bed.loader.response(for: .make("/a"))
        for attempt in response.metrics.attemptMetrics {
            let outcome = attempt.failure?.name ?? attempt.status.map { "\($0)" } ?? "-"
            print(attempt.address ?? "-", outcome, attempt.duration)
        }
        #expect(response.metrics.attemptMetrics.count == 2)
    }
}
