// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads of a service with a cache: who shares what, and what removes it.
@Suite struct CacheSharingTests {
    private let cache: ResponseCache
    private let caching: CacheBed

    init() {
        caching = CacheBed()
        cache = caching.cache
    }

    @Test func `an unsafe request that succeeds removes what is stored of its URL`() async throws {
        let bed = caching.bed([fresh("1"), .respond(status: 204), fresh("2"), fresh("3")])
        _ = try await bed.loader.response(for: .make("/a"))
        _ = try await bed.loader.response(for: .make("/a") { $0.method = .post })
        #expect(text(try await bed.loader.response(for: .make("/a"))) == "2")
        #expect(text(try await bed.loader.response(for: .make("/b"))) == "3")
        #expect(text(try await bed.loader.response(for: .make("/b"))) == "3")
    }

    @Test func `a response that was under way during an unsafe request is not kept`() async throws {
        let bed = caching.bed([.hold, .respond(status: 204), fresh("new")])
        async let old = bed.loader.response(for: .make())
        let attempt = await bed.attempt(0)
        _ = try await bed.loader.response(for: .make { $0.method = .put })
        attempt.respond(
            status: 200, headers: ["Cache-Control": "max-age=60"], body: Data("old".utf8))
        #expect(text(try await old) == "old")
        #expect(text(try await bed.loader.response(for: .make())) == "new")
    }

    @Test func `a stored redirect is followed to what is stored there`() async throws {
        let bed = caching.bed([fresh("", ["Location": "/b"], status: 301), fresh("there")])
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
        let bed = caching.bed([fresh("0"), fresh("1"), fresh("2"), fresh("3")])
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
        let bed = caching.bed([fresh("nobody"), fresh("a"), fresh("b"), fresh("cookie")])
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
        let bed = caching.bed([fresh("1"), fresh("2")])
        _ = try await bed.loader.response(for: .make())
        await bed.service.reset()
        #expect(cache.statistics.bytes == 0)
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a reset of a factory removes what its own loads have stored`() async throws {
        let bed = caching.bed([fresh("public"), fresh("1"), fresh("2")])
        let factory = bed.service.makeFactory(authorisers: [TestAuthoriser(.add("X-Key", "k"))])
        let own = factory.makeDataLoader()
        _ = try await bed.loader.response(for: .make())
        _ = try await own.response(for: .make())
        await factory.reset()
        #expect(text(try await own.response(for: .make())) == "2")
        #expect(text(try await bed.loader.response(for: .make())) == "public")
    }

    @Test func `a response that varies on what an authoriser sets is not kept`() async throws {
        let bed = caching.bed(
            [fresh("1", ["Vary": "X-Key"]), fresh("2")],
            authorisers: [TestAuthoriser(.add("x-key", "k"))])
        _ = try await bed.loader.response(for: .make())
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a HEAD is answered from a stored GET, without its body`() async throws {
        let bed = caching.bed([fresh("body", ["n": "1"])])
        _ = try await bed.loader.response(for: .make())
        let head = try await bed.loader.response(for: .make { $0.method = .head })
        #expect(head.headers["n"] == "1")
        #expect(head.body?.isEmpty != false)
        #expect(head.metrics.source == .cache)
    }

    @Test func `the answer to a HEAD freshens or removes the stored GET`() async throws {
        let bed = caching.bed([
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
        let bed = caching.bed([fresh("1"), fresh("2"), fresh("3")])
        #expect(text(try await bed.loader.response(for: .make())) == "1")
        #expect(text(try await bed.loader.response(for: .make { $0.cachePolicy = .reload })) == "2")
        #expect(text(try await bed.loader.response(for: .make())) == "2")
        #expect(text(try await bed.loader.response(for: .make { $0.cachePolicy = .bypass })) == "3")
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a stored status is an error as on the wire, and no policy retries it`()
        async throws
    {
        let bed = caching.bed([fresh("gone", status: 404)])
        for source in [ResponseSource.network, .cache] {
            let response = try await bed.loader.response(
                for: .make { $0.retryPolicy = .immediately(maximumRetries: 0) })
            #expect(response.error?.kind == .status(.notFound))
            #expect(text(response) == "gone")
            #expect(response.metrics.source == source)
        }
    }

    @Test func `authorisers' own loads are not kept`() async throws {
        let bed = caching.bed([fresh("1"), fresh("2")])
        let loader = bed.service.makeFactoryBelowAuthorisers().makeDataLoader()
        _ = try await loader.response(for: .make())
        #expect(text(try await loader.response(for: .make())) == "2")
    }
}
