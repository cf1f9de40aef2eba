// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingCache
import DataLoadingTesting
import Foundation
import Testing

/// Stored responses that answer while their origin refuses what they answer.
@Suite struct CacheRefusalTests {
    private let stale = ScriptedAnswer.respond(
        status: 200,
        headers: ["Cache-Control": "max-age=1, stale-while-revalidate=3600", "ETag": "\"1\""],
        body: Data("old".utf8))

    @Test(
        arguments: [401, 403, 404, 451, 302, 500, 503, 429],
        [RedirectPolicy.follow, .doNotFollow])
    func `what answers meanwhile is removed when the origin refuses, and not when it fails`(
        status: Int, redirects: RedirectPolicy
    ) async throws {
        let isKept = [500, 503, 429].contains(status)
        let bed = CacheBed().bed(
            [
                stale,
                .respond(
                    status: status, headers: ["Location": "/login"], body: Data("refused".utf8)),
            ], otherwise: .respond(status: 200, body: Data("now".utf8)))
        let request = DataLoaderRequest.make { $0.redirectPolicy = redirects }
        _ = try await bed.loader.response(for: request)
        bed.advance(.seconds(5))
        #expect(text(try await bed.loader.response(for: request)) == "old")
        _ = await bed.observer.entries(3)
        #expect(text(try await bed.loader.response(for: request)) == (isKept ? "old" : "now"))
    }

    @Test func `a refusal takes nothing from other users`() async throws {
        let disk = DiskBed()
        defer { withExtendedLifetime(disk) {} }
        for cache in [ResponseCache.memory(), try disk.cache()] {
            let answers = [
                stale, fresh("other"), .respond(status: 403),
            ]
            let bed = TestBed(
                answers, otherwise: .respond(status: 200, body: Data("now".utf8))
            ) { $0.cache = cache }
            let users = ["a", "b"].map { user in
                DataLoaderRequest.make { $0.headers["Authorization"] = "Basic \(user)" }
            }
            for user in users { _ = try await bed.loader.response(for: user) }
            bed.advance(.seconds(5))
            #expect(text(try await bed.loader.response(for: users[0])) == "old")
            _ = await bed.observer.entries(4)
            #expect(text(try await bed.loader.response(for: users[0])) == "now")
            #expect(text(try await bed.loader.response(for: users[1])) == "other")
            bed.expectNothingLeft()
        }
    }
}
