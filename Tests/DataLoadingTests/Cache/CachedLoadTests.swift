// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads of a service with a cache.
@Suite struct CachedLoadTests {
    private let cache = ResponseCache.memory()

    private func bed(
        _ answers: [ScriptedAnswer], otherwise: ScriptedAnswer = .fail(.connectRefused),
        authorisers: [any Authoriser] = [],
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) -> TestBed {
        TestBed(answers, otherwise: otherwise, authorisers: authorisers) {
            $0.cache = cache
            configure(&$0)
        }
    }

    private func fresh(
        _ body: String = "body", _ fields: HTTPHeaders = [:], maxAge: Int = 60, status: Int = 200
    ) -> ScriptedAnswer {
        var headers = fields
        headers.add("max-age=\(maxAge)", for: "Cache-Control")
        return .respond(status: status, headers: headers, body: Data(body.utf8))
    }

    private func text(_ response: DataLoaderResponse) -> String {
        String(decoding: response.body ?? Data(), as: UTF8.self)
    }

    @Test func `a fresh response answers later loads, without their server`() async throws {
        let bed = bed([fresh()])
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
        let bed = bed([fresh()])
        _ = try await bed.loader.response(for: .make())
        _ = try await bed.loader.response(for: .make())
        let entries = await bed.observer.entries(2)
        #expect(entries[1].response.metrics.source == .cache)
        #expect(entries[1].bytesDownloaded == 0)
    }

    @Test func `a hit needs no token, no slot, no open gate and no connection`() async throws {
        let authoriser = TestAuthoriser(.hold)
        let bed = bed([fresh()], authorisers: [authoriser]) { $0.limits.total = 1 }
        bed.loader.perform(.make())
        bed.settle()
        authoriser.grant(0)
        let stored = await bed.delegate.outcomes(1)
        #expect(stored[0].response?.error == nil)
        try bed.service.rateLimiter.setRetryAfter(.seconds(600), for: testURL("http://origin.test/"))
        bed.factory.isOffline = true
        let hit = try await bed.loader.response(for: .make())
        #expect(hit.metrics.source == .cache)
        #expect(authoriser.calls.count == 1)
    }

    @Test func `a load ends as not cached when only the cache may answer and has nothing`() async throws {
        let bed = bed([])
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
        let bed = bed([
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
        let bed = bed([fresh("old", ["ETag": "\"1\""], maxAge: 1), fresh("new", ["ETag": "\"2\""])])
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
        let bed = bed([
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
        let bed = bed([
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
        let bed = bed([stale, .respond(status: 503), .fail(.connectionReset, sent: .headReceived)])
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
        let bed = bed([stale, .hold, .hold])
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
        #expect(outcomes[2].response?.error == .timedOut(after: .seconds(5), mayHaveBeenProcessed: true))
        bed.expectNothingLeft()
    }

    @Test func `a stale response answers at once while one load in the background validates it`()
        async throws
    {
        let window = HTTPHeaders([
            .init(name: "Cache-Control", value: "stale-while-revalidate=600"),
            .init(name: "ETag", value: "\"1\""),
        ])
        let bed = bed([fresh("old", window, maxAge: 1), .hold])
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
        #expect(
            cache.beginRevalidation(
                CacheKey(.shared, try RequestTarget(testURL("http://origin.test/")))))
    }

    @Test func `a hit in chunks waits for its reader`() async throws {
        let body = patternBytes(1_000_000)
        let bed = bed([
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
        let bed = bed([
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
        let bed = bed([
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
        let bed = bed([
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

    @Test func `an unsafe request that succeeds removes what is stored of its URL`() async throws {
        let bed = bed([fresh("1"), .respond(status: 204), fresh("2"), fresh("3")])
        _ = try await bed.loader.response(for: .make("/a"))
        _ = try await bed.loader.response(for: .make("/a") { $0.method = .post })
        #expect(text(try await bed.loader.response(for: .make("/a"))) == "2")
        #expect(text(try await bed.loader.response(for: .make("/b"))) == "3")
        #expect(text(try await bed.loader.response(for: .make("/b"))) == "3")
    }

    @Test func `a response that was under way during an unsafe request is not kept`() async throws {
        let bed = bed([.hold, .respond(status: 204), fresh("new")])
        async let old = bed.loader.response(for: .make())
        let attempt = await bed.attempt(0)
        _ = try await bed.loader.response(for: .make { $0.method = .put })
        attempt.respond(
            status: 200, headers: ["Cache-Control": "max-age=60"], body: Data("old".utf8))
        #expect(text(try await old) == "old")
        #expect(text(try await bed.loader.response(for: .make())) == "new")
    }

    @Test func `a stored redirect is followed to what is stored there`() async throws {
        let bed = bed([fresh("", ["Location": "/b"], status: 301), fresh("there")])
        let request = DataLoaderRequest.make("/a") { $0.redirectPolicy = .doNotFollow }
        _ = try? await bed.loader.response(for: request)
        #expect(text(try await bed.loader.response(for: .make("/b"))) == "there")
        let followed = try await bed.loader.response(for: .make("/a"))
        #expect(text(followed) == "there")
        #expect(followed.metrics.redirects == 1)
        #expect(followed.metrics.attempts == 0)
        #expect(bed.transport.attempts.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `factories with authorisers share nothing, unless they name a partition`()
        async throws
    {
        let bed = bed([fresh("0"), fresh("1"), fresh("2"), fresh("3")])
        func loader(_ partition: String? = nil) -> DataLoader {
            bed.service.makeFactory(
                authorisers: [TestAuthoriser(.add("X-Key", "k"))], cachePartition: partition
            ).makeDataLoader()
        }
        let loaders = [bed.loader, loader(), loader(), loader("a"), loader("a")]
        var bodies: [String] = []
        for loader in loaders { bodies.append(text(try await loader.response(for: .make()))) }
        #expect(bodies == ["0", "1", "2", "3", "3"])
    }

    @Test func `callers who say who they are share nothing`() async throws {
        let bed = bed([fresh("nobody"), fresh("a"), fresh("b"), fresh("cookie")])
        var bodies: [String] = []
        for (name, value) in [
            ("Authorization", nil), ("Authorization", "a"), ("Authorization", "b"),
            ("Cookie", "a"), ("Authorization", "a"), ("Cookie", "a"), ("Cookie", nil),
        ] as [(String, String?)] {
            let response = try await bed.loader.response(for: .make { $0.headers[name] = value })
            bodies.append(text(response))
        }
        #expect(bodies == ["nobody", "a", "b", "cookie", "a", "cookie", "nobody"])
    }

    @Test func `a reset removes what is stored`() async throws {
        let bed = bed([fresh("1"), fresh("2")])
        _ = try await bed.loader.response(for: .make())
        await bed.service.reset()
        #expect(cache.statistics.bytes == 0)
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a reset of a factory removes what its own loads have stored`() async throws {
        let bed = bed([fresh("public"), fresh("1"), fresh("2")])
        let factory = bed.service.makeFactory(authorisers: [TestAuthoriser(.add("X-Key", "k"))])
        let own = factory.makeDataLoader()
        _ = try await bed.loader.response(for: .make())
        _ = try await own.response(for: .make())
        await factory.reset()
        #expect(text(try await own.response(for: .make())) == "2")
        #expect(text(try await bed.loader.response(for: .make())) == "public")
    }

    @Test func `a response that varies on what an authoriser sets is not kept`() async throws {
        let bed = bed(
            [fresh("1", ["Vary": "X-Key"]), fresh("2")],
            authorisers: [TestAuthoriser(.add("x-key", "k"))])
        _ = try await bed.loader.response(for: .make())
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a HEAD is answered from a stored GET, without its body`() async throws {
        let bed = bed([fresh("body", ["n": "1"])])
        _ = try await bed.loader.response(for: .make())
        let head = try await bed.loader.response(for: .make { $0.method = .head })
        #expect(head.headers["n"] == "1")
        #expect(head.body?.isEmpty != false)
        #expect(head.metrics.source == .cache)
    }

    @Test func `the answer to a HEAD freshens or removes the stored GET`() async throws {
        let bed = bed([
            fresh("1", ["ETag": "\"1\""], maxAge: 1), fresh("", ["ETag": "\"1\""]),
            fresh("", ["ETag": "\"2\""]), fresh("2"),
        ])
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        _ = try await bed.loader.response(for: .make { $0.method = .head })
        #expect(text(try await bed.loader.response(for: .make())) == "1")
        _ = try await bed.loader.response(
            for: .make {
                $0.method = .head
                $0.cachePolicy = .reload
            })
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a load's policy decides whether the cache is read and written`() async throws {
        let bed = bed([fresh("1"), fresh("2"), fresh("3")])
        #expect(text(try await bed.loader.response(for: .make())) == "1")
        #expect(text(try await bed.loader.response(for: .make { $0.cachePolicy = .reload })) == "2")
        #expect(text(try await bed.loader.response(for: .make())) == "2")
        #expect(text(try await bed.loader.response(for: .make { $0.cachePolicy = .bypass })) == "3")
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a stored status is an error as on the wire, and no policy retries it`()
        async throws
    {
        let bed = bed([fresh("gone", status: 404)])
        for source in [ResponseSource.network, .cache] {
            let response = try await bed.loader.response(
                for: .make { $0.retryPolicy = .immediately(maximumRetries: 0) })
            #expect(response.error?.kind == .status(.notFound))
            #expect(text(response) == "gone")
            #expect(response.metrics.source == source)
        }
    }

    @Test func `authorisers' own loads are not kept`() async throws {
        let bed = bed([fresh("1"), fresh("2")])
        let loader = bed.service.makeFactoryBelowAuthorisers().makeDataLoader()
        _ = try await loader.response(for: .make())
        #expect(text(try await loader.response(for: .make())) == "2")
    }
}
