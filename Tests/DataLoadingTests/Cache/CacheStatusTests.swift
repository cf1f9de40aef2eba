// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What metrics say that the cache did (RFC 9211).
@Suite struct CacheStatusTests {
    private let caching = CacheBed()

    private func status(
        _ bed: TestBed, _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) async throws -> String {
        let response = try await bed.loader.response(for: .make("/", change))
        return response.metrics.cacheStatus.map(\.description) ?? "none"
    }

    @Test func `a miss is forwarded and stored, and a hit says how long it stays fresh`()
        async throws
    {
        let bed = caching.bed([fresh()])
        #expect(try await status(bed) == "fwd=uri-miss; fwd-status=200; stored")
        bed.advance(.seconds(9))
        #expect(try await status(bed) == "hit; ttl=51")
        let hit = try await bed.loader.response(for: .make())
        #expect(hit.metrics.cacheStatus?.isHit == true)
    }

    @Test func `a response that may not be stored is forwarded and not stored`() async throws {
        let bed = caching.bed([fresh("body", ["Cache-Control": "no-store"])])
        #expect(try await status(bed) == "fwd=uri-miss; fwd-status=200")
    }

    @Test func `a stale response is forwarded with the status of its confirmation`()
        async throws
    {
        let bed = caching.bed([fresh("body", ["ETag": "\"1\""]), .respond(status: 304)])
        _ = try await status(bed)
        bed.advance(.seconds(70))
        #expect(try await status(bed) == "fwd=stale; fwd-status=304; ttl=-10")
    }

    @Test func `a request that wants the server is forwarded for that reason`() async throws {
        let bed = caching.bed([
            fresh("body", ["ETag": "\"1\"", "Vary": "Accept"]), .respond(status: 304), fresh(),
            fresh(), fresh(), .respond(status: 204),
        ])
        _ = try await status(bed)
        #expect(
            try await status(bed) { $0.headers["Cache-Control"] = "no-cache" }
                == "fwd=request; fwd-status=304; ttl=60")
        #expect(
            try await status(bed) { $0.headers["Accept"] = "text/plain" }
                == "fwd=vary-miss; fwd-status=200; stored")
        #expect(
            try await status(bed) { $0.cachePolicy = .bypass } == "fwd=bypass; fwd-status=200")
        #expect(
            try await status(bed) { $0.cachePolicy = .reload }
                == "fwd=request; fwd-status=200; ttl=60; stored")
        #expect(try await status(bed) { $0.method = .post } == "fwd=method; fwd-status=204")
    }

    @Test func `what is used in place of an error says what the server has answered`()
        async throws
    {
        let bed = caching.bed([
            fresh("body", ["Cache-Control": "stale-if-error=600"]), .respond(status: 503),
        ])
        _ = try await status(bed)
        bed.advance(.seconds(70))
        let response = try await bed.loader.response(for: .make())
        #expect(response.statusCode == .ok)
        #expect(response.metrics.source == .stale)
        #expect(
            response.metrics.cacheStatus?.description == "fwd=stale; fwd-status=503; ttl=-10")
    }

    @Test func `a line of the log says what the cache did`() async throws {
        let bed = caching.bed([fresh()])
        _ = try await status(bed)
        let hit = try await bed.loader.response(for: .make())
        let lines = EventRecorder<String>()
        for format in [ConsumptionLogger.Format.text, .json] {
            let logger = ConsumptionLogger(format: format) { lines.record($0) }
            logger.endedRequest(with: hit, bytesDownloaded: 0, bytesUploaded: 0)
        }
        #expect(lines.elements[0].contains(" cache=(hit; ttl=60) "))
        #expect(lines.elements[1].contains("\"cache\":\"hit; ttl=60\""))
    }

    @Test func `nothing is said where no cache was asked`() async throws {
        let bed = TestBed([.respond(status: 200)])
        #expect(try await status(bed) == "none")
    }
}
