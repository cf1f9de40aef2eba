// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of a cache and of requests that loads share.

@Suite struct CachingSamples {
    @Test func `the sample of a cache answers the second load`() async throws {
        let transport = ScriptedTransport(
            otherwise: .respond(status: 200, headers: ["Cache-Control": "max-age=86400"]))
        var configuration = DataLoaderService.Configuration()
        configuration.cache = .memory(capacity: 64 << 20)
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration)
        let loader = service.makeFactory().makeDataLoader()
        for source in [ResponseSource.network, .cache] {
            let response = try await loader.response(for: .make())
            #expect(response.metrics.source == source)
        }
        #expect(transport.attempts.count == 1)
    }

    @Test func `the samples of what one load may say compile and do it`() async throws {
        let caching = CacheBed()
        let bed = caching.bed([], otherwise: fresh())
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(20))
        var sources: [ResponseSource] = []
        func load(_ change: (inout DataLoaderRequest) -> Void) async throws {
            let response = try await bed.loader.response(for: .make("/", change))
            sources.append(response.metrics.source)
        }
        try await load { request in request.cachePolicy = .cacheOnly }
        try await load { request in request.headers["Cache-Control"] = "max-age=10" }
        bed.advance(.seconds(120))
        try await load { request in request.headers["Cache-Control"] = "max-stale=3600" }
        try await load { request in request.cachePolicy = .bypass }
        try await load { request in request.cachePolicy = .reload }
        #expect(sources == [.cache, .network, .stale, .network, .network])
        let factory = bed.factory
        factory.isOffline = true
        try await load { _ in }
        #expect(sources.last == .cache)
    }

    @Test func `the sample of a shared request compiles, and shares it`() async {
        let bed = TestBed()
        var request = DataLoaderRequest.make()
        request.coalescing = .sameRequest
        for _ in 0..<2 { bed.loader.perform(request) }
        let attempt = await bed.attempt(0)
        bed.settle()
        attempt.respond(status: 200)
        _ = await bed.delegate.outcomes(2)
        #expect(bed.transport.attempts.count == 1)
    }
}
