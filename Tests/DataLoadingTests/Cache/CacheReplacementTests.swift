// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Stored responses after the server has said something newer.
@Suite struct CacheReplacementTests {
    private let caching = CacheBed()

    private func stale(_ more: String = "") -> ScriptedAnswer {
        .respond(
            status: 200,
            headers: ["Cache-Control": "max-age=1" + more, "ETag": "\"1\""],
            body: Data("old".utf8))
    }

    /// A stale response that may be used on errors, whose origin fails from now on.
    private func staleBed(failing kind: DataLoaderError.Kind) async throws -> TestBed {
        let bed = caching.bed(
            [stale(", stale-if-error=3600"), .fail(kind)], otherwise: .fail(kind))
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        return bed
    }

    @Test(arguments: ["no-store", "no-store, max-age=60"])
    func `a 304 that forbids to store is delivered, and the stored response is removed`(
        directives: String
    ) async throws {
        let bed = caching.bed([
            stale(),
            .respond(status: 304, headers: ["ETag": "\"1\"", "Cache-Control": directives]),
            fresh("new"),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        let confirmed = try await bed.loader.response(for: .make())
        #expect(text(confirmed) == "old")
        #expect(confirmed.metrics.source == .validated)
        #expect(text(try await bed.loader.response(for: .make())) == "new")
        #expect(bed.transport.attempts.last?.request.headers["If-None-Match"] == nil)
        #expect(caching.cache.statistics.validated == 1)
    }

    @Test func `a 304 that varies on what an authoriser sets removes the stored response`()
        async throws
    {
        let bed = caching.bed(
            [
                stale(),
                .respond(
                    status: 304,
                    headers: [
                        "ETag": "\"1\"", "Cache-Control": "max-age=60", "Vary": "x-key",
                    ]),
                fresh("new"),
            ], authorisers: [TestAuthoriser(.add("X-Key", "k"))])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        #expect(text(try await bed.loader.response(for: .make())) == "old")
        #expect(text(try await bed.loader.response(for: .make())) == "new")
    }

    /// The fields of the response to the request that was sent first, of that which was sent later,
    /// and the one that stays.
    private static let races: [(HTTPHeaders, HTTPHeaders, String)] = [
        ([:], [:], "later"),
        (["Date": "Thu, 01 Jan 2026 00:00:07 GMT"], [:], "later"),
        (
            ["Date": "Thu, 01 Jan 2026 00:00:02 GMT"], ["Date": "Thu, 01 Jan 2026 00:00:02 GMT"],
            "later"
        ),
        (
            ["Date": "Thu, 01 Jan 2026 00:00:01 GMT"], ["Date": "Thu, 01 Jan 2026 00:00:02 GMT"],
            "later"
        ),
        // The server took so long that it has seen the newer state.
        (
            ["Date": "Thu, 01 Jan 2026 00:00:07 GMT"], ["Date": "Thu, 01 Jan 2026 00:00:02 GMT"],
            "first"
        ),
    ]

    @Test(arguments: races.indices)
    func `a slow response does not replace one that was asked for later`(index: Int) async throws {
        let (first, later, kept) = Self.races[index]
        let disk = DiskLoadBed()
        let (onDisk, _) = try disk.process([.hold, .hold])
        for bed in [caching.bed([.hold, .hold]), onDisk] {
            var attempts: [ScriptedAttempt] = []
            for number in 0..<2 {
                bed.loader.perform(.make())
                attempts.append(await bed.attempt(number))
                bed.advance(.seconds(1))
            }
            for (number, fields, body) in [(1, later, "later"), (0, first, "first")] {
                var headers = fields
                headers["Cache-Control"] = "max-age=600"
                attempts[number].respond(status: 200, headers: headers, body: Data(body.utf8))
                _ = await bed.delegate.outcomes(2 - number)
                bed.advance(.seconds(1))
            }
            let stored = try await bed.loader.response(for: .make())
            #expect(stored.metrics.source == .cache)
            #expect(text(stored) == kept)
        }
        let (other, _) = try disk.process()
        #expect(
            text(try await other.loader.response(for: .make { $0.cachePolicy = .cacheOnly }))
                == kept)
    }

    @Test func `a 304 without a Date is as young as its arrival`() async throws {
        let bed = caching.bed([
            .respond(
                status: 200,
                headers: [
                    "Cache-Control": "max-age=60", "ETag": "\"1\"",
                    "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
                ], body: Data("body".utf8)),
            .respond(status: 304, headers: ["ETag": "\"1\""]),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(600))
        #expect(try await bed.loader.response(for: .make()).metrics.source == .validated)
        bed.advance(.seconds(30))
        let hit = try await bed.loader.response(for: .make())
        #expect(hit.metrics.source == .cache)
        #expect(hit.headers["Age"] == "30")
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `a newer response that forbids to store removes the one that answers meanwhile`()
        async throws
    {
        let bed = caching.bed([
            stale(", stale-while-revalidate=3600"),
            .respond(status: 200, headers: ["Cache-Control": "no-store"], body: Data("2".utf8)),
            .respond(status: 200, headers: ["Cache-Control": "no-store"], body: Data("3".utf8)),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        #expect(text(try await bed.loader.response(for: .make())) == "old")
        _ = await bed.observer.entries(3)
        #expect(text(try await bed.loader.response(for: .make())) == "3")
        bed.expectNothingLeft()
    }

    @Test func `a newer body that is too large for the cache removes the older one`() async throws {
        let cache = ResponseCache.memory(capacity: 4_000)
        let large = patternBytes(2_000)
        let newer = ScriptedAnswer.respond(
            status: 200, headers: ["Cache-Control": "max-age=60"], body: large)
        let bed = TestBed([stale(), newer, .respond(status: 503)]) { $0.cache = cache }
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        for try await _ in bed.loader.chunks(for: .make()) {}
        let failed = try await bed.loader.response(
            for: .make { $0.headers["Cache-Control"] = "stale-if-error=3600" })
        #expect(failed.statusCode == .serviceUnavailable)
    }

    @Test func `an error leaves what is stored`() async throws {
        for status in [500, 403, 429] {
            let bed = CacheBed().bed([
                stale(),
                .respond(status: status, headers: ["Cache-Control": "no-store"]),
                .respond(status: 304, headers: ["ETag": "\"1\""]),
            ])
            _ = try await bed.loader.response(for: .make())
            bed.advance(.seconds(5))
            _ = try await bed.loader.response(for: .make())
            #expect(text(try await bed.loader.response(for: .make())) == "old", "\(status)")
        }
    }

    @Test(arguments: [
        ("Expires", "0"), ("Cache-Control", "private"), ("Cache-Control", "max-age=0"),
        ("Cache-Control", "max-age=60"),
    ])
    func `a failure of the origin takes the place of no stored response, whatever it says`(
        name: String, value: String
    ) async throws {
        let bed = caching.bed([
            stale(", stale-if-error=3600"),
            .respond(status: 503, headers: HTTPHeaders([.init(name: name, value: value)])),
            .respond(status: 503),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        let failed = try await bed.loader.response(for: .make { $0.cachePolicy = .reload })
        #expect(failed.statusCode == .serviceUnavailable)
        let onError = try await bed.loader.response(for: .make())
        #expect(text(onError) == "old")
        #expect(onError.metrics.source == .stale)
    }

    @Test(arguments: [
        DataLoaderError.Kind.pin, .certificate(reason: "expired"), .privateAddress,
        .bodyTooLarge(limit: 1), .digestMismatch, .redirectRefused(reason: "to http"),
        .proxy(.status(.proxyAuthenticationRequired)),
    ])
    func `an error that is no failure of the origin is not hidden by a stale response`(
        kind: DataLoaderError.Kind
    ) async throws {
        let bed = try await staleBed(failing: kind)
        do {
            let response = try await bed.loader.response(for: .make())
            Issue.record("\(response.metrics.source) in place of \(kind)")
        } catch let error as DataLoaderError {
            #expect(error.kind == kind)
        }
        bed.expectNothingLeft()
    }

    @Test(arguments: [
        DataLoaderError.Kind.dns, .connectRefused, .connectTimeout, .tls, .noResponse,
        .proxy(.connectRefused), .proxy(.status(.badGateway)),
    ])
    func `a failed connection is answered by a stale response that allows it`(
        kind: DataLoaderError.Kind
    ) async throws {
        let bed = try await staleBed(failing: kind)
        let response = try await bed.loader.response(for: .make())
        #expect(text(response) == "old")
        #expect(response.metrics.source == .stale)
        bed.expectNothingLeft()
    }

    @Test func `a HEAD that varies on what an authoriser sets removes the stored response`()
        async throws
    {
        let fields: HTTPHeaders = [
            "ETag": "\"1\"", "Cache-Control": "max-age=60", "Vary": "x-key",
        ]
        let bed = caching.bed(
            [stale(), .respond(status: 200, headers: fields), fresh("new")],
            authorisers: [TestAuthoriser(.add("X-Key", "k"))])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        _ = try await bed.loader.response(for: .make { $0.method = .head })
        #expect(text(try await bed.loader.response(for: .make())) == "new")
    }

    @Test func `an unsafe request removes what is stored, whatever its authoriser adds to the URL`()
        async throws
    {
        let signing = TestAuthoriser(.change { $0.url = testURL("http://origin.test/a?sig=1") })
        let bed = caching.bed(
            [fresh("old"), .respond(status: 204), fresh("new")], authorisers: [signing])
        _ = try await bed.loader.response(for: .make("/a"))
        #expect(try await bed.loader.response(for: .make("/a")).metrics.source == .cache)
        _ = try await bed.loader.response(for: .make("/a") { $0.method = .post })
        #expect(text(try await bed.loader.response(for: .make("/a"))) == "new")
    }
}
