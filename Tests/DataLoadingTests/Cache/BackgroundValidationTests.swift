// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads in the background that validate what has answered after its freshness.
@Suite struct BackgroundValidationTests {
    private let caching = CacheBed()

    private let stale = fresh(
        "old",
        HTTPHeaders([
            .init(name: "Cache-Control", value: "stale-while-revalidate=600"),
            .init(name: "ETag", value: "\"1\""),
        ]), maxAge: 1)

    @Test func `a validation in the background has the conditions of the cache, not the caller's`()
        async throws
    {
        let bed = caching.bed([stale, .hold])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        let first = try await bed.loader.response(
            for: .make {
                $0.headers["If-None-Match"] = "\"0\""
                $0.headers["If-Modified-Since"] = "Thu, 01 Jan 2026 00:00:00 GMT"
            })
        #expect(text(first) == "old")
        let background = await bed.attempt(1)
        #expect(background.request.headers.values(for: "If-None-Match") == ["\"1\""])
        #expect(background.request.headers["If-Modified-Since"] == nil)
        background.respond(
            status: 304, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
        _ = await bed.observer.entries(3)
        let hit = try await bed.loader.response(for: .make())
        #expect(text(hit) == "old")
        #expect(hit.metrics.source == .cache)
        bed.expectNothingLeft()
    }

    @Test func `a validation in the background stores for a request with options and authorisers`()
        async throws
    {
        let bed = caching.bed(
            [stale, fresh("new")], authorisers: [TestAuthoriser(.add("X-Key", "k"))])
        let request = DataLoaderRequest.make {
            $0[option: URLTemplate.self] = "/"
            $0.downloadProgress = { _ in }
        }
        _ = try await bed.loader.response(for: request)
        bed.advance(.seconds(5))
        #expect(text(try await bed.loader.response(for: request)) == "old")
        _ = await bed.observer.entries(3)
        let hit = try await bed.loader.response(for: request)
        #expect(text(hit) == "new")
        #expect(hit.metrics.source == .cache)
        bed.expectNothingLeft()
    }

    @Test func `the responses of two users are validated at the same time`() async throws {
        let bed = caching.bed([stale, stale, .hold, .hold])
        let users = ["a", "b"].map { user in
            DataLoaderRequest.make { $0.headers["Authorization"] = "Basic \(user)" }
        }
        for user in users { _ = try await bed.loader.response(for: user) }
        bed.advance(.seconds(5))
        for user in users + users {
            #expect(text(try await bed.loader.response(for: user)) == "old")
        }
        for (number, user) in users.enumerated() {
            let background = await bed.attempt(2 + number)
            #expect(background.request.headers["Authorization"] == user.headers["Authorization"])
            background.respond(
                status: 304, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
        }
        _ = await bed.observer.entries(8)
        #expect(bed.transport.attempts.count == 4)
        for user in users {
            #expect(try await bed.loader.response(for: user).metrics.source == .cache)
        }
        bed.expectNothingLeft()
    }
}
