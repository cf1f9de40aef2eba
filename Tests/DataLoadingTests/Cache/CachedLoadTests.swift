// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads of a service with a cache: what is reused, validated and kept.
@Suite struct CachedLoadTests {
    private let cache: ResponseCache
    private let caching: CacheBed

    init() {
        caching = CacheBed()
        cache = caching.cache
    }

    @Test func `a fresh response answers later loads, without their server`() async throws {
        let bed = caching.bed([fresh()])
        let first = try await bed.loader.response(for: .make())
        #expect(first.metrics.source == .network)
        bed.advance(.seconds(9))
        let second = try await bed.loader.response(for: .make())
        #expect(text(second) == "body")
        #expect(second.statusCode == .ok)
        #expect(second.headers["Age"] == "9")
        #expect(second.metrics.source == .cache)
        #expect(second.metrics.attempts == 0)
        #expect(second.metrics.bytesDownloaded == 0)
        #expect(bed.transport.attempts.count == 1)
        bed.advance(.seconds(51))
        await #expect(throws: DataLoaderError.connectRefused) {
            try await bed.loader.response(for: .make())
        }
        #expect(cache.statistics.hits == 1)
        #expect(cache.statistics.misses == 2)
        bed.expectNothingLeft()
    }

    @Test func `observers hear of a hit, with no bytes`() async throws {
        let bed = caching.bed([fresh()])
        _ = try await bed.loader.response(for: .make())
        _ = await bed.observer.entries(1)
        _ = try await bed.loader.response(for: .make())
        let entries = await bed.observer.entries(2)
        #expect(entries[1].response.metrics.source == .cache)
        #expect(entries[1].bytesDownloaded == 0)
    }

    @Test func `a hit needs no token, no slot, no open gate and no connection`() async throws {
        let authoriser = TestAuthoriser(.hold)
        let bed = caching.bed([fresh()], authorisers: [authoriser]) { $0.limits.total = 1 }
        bed.loader.perform(.make())
        bed.settle()
        authoriser.grant(0)
        let stored = await bed.delegate.outcomes(1)
        #expect(stored[0].response?.error == nil)
        let origin = testURL("http://origin.test/")
        try bed.service.rateLimiter.setRetryAfter(.seconds(600), for: origin)
        bed.factory.isOffline = true
        let hit = try await bed.loader.response(for: .make())
        #expect(hit.metrics.source == .cache)
        #expect(authoriser.calls.count == 1)
    }

    @Test func `a load is not cached when only the cache may answer and has nothing`()
        async throws
    {
        let bed = caching.bed([])
        await #expect(throws: DataLoaderError.notCached) {
            try await bed.loader.response(for: .make { $0.cachePolicy = .cacheOnly })
        }
        await #expect(throws: DataLoaderError.notCached) {
            try await bed.loader.response(
                for: .make { $0.headers["Cache-Control"] = "only-if-cached" })
        }
        bed.factory.isOffline = true
        await #expect(throws: DataLoaderError.notCached) {
            try await bed.loader.response(for: .make { $0.method = .post })
        }
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a stale response is confirmed by a 304, and delivered with its own status`()
        async throws
    {
        let confirmation = HTTPHeaders([
            .init(name: "ETag", value: "\"1\""), .init(name: "Cache-Control", value: "max-age=60"),
            .init(name: "n", value: "2"),
        ])
        let bed = caching.bed([
            fresh("body", ["ETag": "\"1\"", "n": "1", "kept": "yes"], maxAge: 1),
            .respond(status: 304, headers: confirmation),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        let second = try await bed.loader.response(for: .make())
        #expect(bed.transport.attempts[1].request.headers["If-None-Match"] == "\"1\"")
        #expect(second.statusCode == .ok)
        #expect(text(second) == "body")
        #expect(second.headers["n"] == "2")
        #expect(second.headers["kept"] == "yes")
        #expect(second.metrics.source == .validated)
        #expect(second.metrics.attempts == 1)
        bed.advance(.seconds(5))
        let third = try await bed.loader.response(for: .make())
        #expect(third.metrics.source == .cache)
        #expect(third.headers["n"] == "2")
        #expect(cache.statistics.validated == 1)
        bed.expectNothingLeft()
    }

    @Test func `a new response takes the place of a stale one`() async throws {
        let bed = caching.bed([
            fresh("old", ["ETag": "\"1\""], maxAge: 1), fresh("new", ["ETag": "\"2\""]),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        let second = try await bed.loader.response(for: .make())
        #expect(text(second) == "new")
        #expect(second.metrics.source == .network)
        #expect(text(try await bed.loader.response(for: .make())) == "new")
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `a 304 of another response is asked for once more, without conditions`()
        async throws
    {
        let bed = caching.bed([
            fresh("old", ["ETag": "\"1\""], maxAge: 1),
            .respond(status: 304, headers: ["ETag": "\"other\""]), fresh("new"),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        #expect(text(try await bed.loader.response(for: .make())) == "new")
        #expect(bed.transport.attempts[2].request.headers["If-None-Match"] == nil)
        bed.expectNothingLeft()
    }

    @Test func `a caller who sets conditions gets the 304 himself`() async {
        let bed = caching.bed([
            fresh("old", ["ETag": "\"1\""], maxAge: 1),
            .respond(status: 304, headers: ["ETag": "\"1\""]),
        ])
        _ = try? await bed.loader.response(for: .make())
        for _ in 0..<2 {
            let response = try? await bed.loader.response(
                for: .make { $0.headers["If-None-Match"] = "\"1\"" })
            #expect(response?.statusCode == .notModified)
            #expect(response?.body?.isEmpty != false)
            bed.advance(.seconds(5))
        }
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `a stale response takes the place of an error of the server, and of no other`()
        async throws
    {
        let stale = fresh("stale", ["Cache-Control": "stale-if-error=600"], maxAge: 1)
        let bed = caching.bed([
            stale, .respond(status: 503), .fail(.connectionReset, sent: .headReceived),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        for _ in 0..<3 {
            let response = try await bed.loader.response(for: .make())
            #expect(text(response) == "stale")
            #expect(response.statusCode == .ok)
            #expect(response.metrics.source == .stale)
            #expect(response.metrics.attempts == 1)
        }
        #expect(cache.statistics.staleServed == 3)
        bed.transport.then(.respond(status: 404))
        let missing = try await bed.loader.response(for: .make())
        #expect(missing.statusCode == .notFound)
        bed.expectNothingLeft()
    }

    @Test func `a cancelled load, and one whose time is up, get nothing stale`() async {
        let stale = fresh("stale", ["Cache-Control": "stale-if-error=600"], maxAge: 1)
        let bed = caching.bed([stale, .hold, .hold])
        bed.loader.perform(.make())
        _ = await bed.delegate.outcomes(1)
        bed.advance(.seconds(5))
        let token = bed.loader.perform(.make())
        _ = await bed.attempt(1)
        token.cancel()
        bed.loader.perform(.make { $0.timeout = .seconds(5) })
        _ = await bed.attempt(2)
        bed.advance(.seconds(5))
        let outcomes = await bed.delegate.outcomes(3)
        #expect(outcomes[1].response == nil)
        let late = DataLoaderError.timedOut(after: .seconds(5), mayHaveBeenProcessed: true)
        #expect(outcomes[2].response?.error == late)
        bed.expectNothingLeft()
    }

    @Test func `a stale response answers at once while one load in the background validates it`()
        async throws
    {
        let window = HTTPHeaders([
            .init(name: "Cache-Control", value: "stale-while-revalidate=600"),
            .init(name: "ETag", value: "\"1\""),
        ])
        let bed = caching.bed([fresh("old", window, maxAge: 1), .hold])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        for _ in 0..<3 {
            let response = try await bed.loader.response(for: .make())
            #expect(text(response) == "old")
            #expect(response.metrics.source == .stale)
        }
        let background = await bed.attempt(1)
        #expect(background.request.headers["If-None-Match"] == "\"1\"")
        #expect(bed.transport.attempts.count == 2)
        background.respond(
            status: 200, headers: ["Cache-Control": "max-age=60"], body: Data("new".utf8))
        _ = await bed.observer.entries(5)
        #expect(text(try await bed.loader.response(for: .make())) == "new")
        bed.expectNothingLeft()
        // Once it is stale again, another load may validate it.
        let key = CacheKey(.shared, try RequestTarget(testURL("http://origin.test/")))
        let variant = try #require(VariantKey([:], request: [:]))
        #expect(cache.beginRevalidation(of: CachePlace(key, variant)))
    }

    @Test func `a hit in chunks waits for its reader`() async throws {
        let body = patternBytes(1_000_000)
        let bed = caching.bed([
            .respond(status: 200, headers: ["Cache-Control": "max-age=60"], body: body)
        ])
        _ = try await bed.loader.response(for: .make())
        let chunks = bed.loader.chunks(for: .make())
        var received = Data()
        var count = 0
        for try await chunk in chunks {
            received.append(chunk)
            count += 1
        }
        #expect(received == body)
        #expect(count > 4)
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `a reader of a hit may stop, and cancels its load`() async throws {
        let bed = caching.bed([
            .respond(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: patternBytes(3_000_000)
            )
        ])
        _ = try await bed.loader.response(for: .make())
        for _ in 0..<100 {
            for try await _ in bed.loader.chunks(for: .make()) { break }
        }
        await eventually { bed.service.runtime.liveLoads.live == 0 }
        bed.expectNothingLeft()
    }

    @Test func `a body that was read in chunks is kept`() async throws {
        let bed = caching.bed([
            .run { attempt in
                attempt.sendHead(status: 200, headers: ["Cache-Control": "max-age=60"])
                for piece in ["a", "b", "c"] { attempt.send(Data(piece.utf8)) }
                attempt.end()
            }
        ])
        for try await _ in bed.loader.chunks(for: .make()) {}
        #expect(text(try await bed.loader.response(for: .make())) == "abc")
    }

    @Test func `nothing is kept of a body that broke`() async throws {
        let bed = caching.bed([
            .run { attempt in
                attempt.sendHead(status: 200, headers: ["Cache-Control": "max-age=60"])
                attempt.send(Data("half".utf8))
                attempt.fail(.connectionReset, sent: .headReceived)
            },
            fresh("whole"),
        ])
        await #expect(throws: DataLoaderError.connectionReset) {
            try await bed.loader.response(for: .make())
        }
        #expect(text(try await bed.loader.response(for: .make())) == "whole")
        #expect(bed.transport.attempts.count == 2)
    }
}
