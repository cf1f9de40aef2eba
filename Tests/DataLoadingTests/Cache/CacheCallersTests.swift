// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Who asks, where neither an authoriser nor `Authorization` says it.
@Suite struct CacheCallersTests {
    private let caching = CacheBed()

    @Test(arguments: ["X-Api-Key", "API-Key", "X-Auth-Token", "PRIVATE-TOKEN"])
    func `requests with other keys share nothing`(name: String) async throws {
        let bed = caching.bed([fresh("alice"), fresh("bob"), fresh("nobody")])
        for (key, body) in [("a", "alice"), ("b", "bob"), (nil, "nobody"), ("a", "alice")] {
            let response = try await bed.loader.response(for: .make { $0.headers[name] = key })
            #expect(text(response) == body)
        }
    }

    @Test func `factories with interceptors share nothing, unless they name a partition`()
        async throws
    {
        let bed = caching.bed([fresh("1"), fresh("2"), fresh("3")])
        func body(_ user: String, in partition: String? = nil) async throws -> String {
            let factory = bed.service.makeFactory(
                interceptors: [NamesUser(name: user)], cachePartition: partition)
            return text(try await factory.makeDataLoader().response(for: .make()))
        }
        #expect(try await body("a") == "1")
        #expect(try await body("b") == "2")
        #expect(try await body("a", in: "all") == "3")
        #expect(try await body("b", in: "all") == "3")
    }

    @Test func `a 200 to HEAD does not confirm a stored 404`() async throws {
        let bed = caching.bed([
            fresh("gone", maxAge: 1, status: 404),
            .respond(status: 200, headers: ["Cache-Control": "max-age=3600"]), fresh("here"),
        ])
        #expect(try await bed.loader.response(for: .make()).statusCode == .notFound)
        bed.advance(.seconds(5))
        _ = try await bed.loader.response(for: .make { $0.method = .head })
        let second = try await bed.loader.response(for: .make())
        #expect(second.statusCode == .ok)
        #expect(text(second) == "here")
    }

    @Test func `only what content negotiation says is kept as it is`() throws {
        let request: HTTPHeaders = [
            "Accept-Language": "de", "X-Session": "s3cr3t", "Authorization": "Bearer s3cr3t",
        ]
        let key = try #require(
            VariantKey(["Vary": "Accept-Language, X-Session"], request: request))
        #expect(key.matches(request))
        #expect(key.fields.contains(.init(name: "accept-language", value: "de")))
        #expect(!key.fields.contains { $0.value?.contains("s3cr3t") == true })
        var other = request
        other["X-Session"] = "another"
        #expect(!key.matches(other))
    }
}

/// Says who asks in a field of its own.
private struct NamesUser: Interceptor {
    let name: String

    func intercept(
        _ request: DataLoaderRequest, next: @escaping NextLoad
    ) async throws -> DataLoaderResponse {
        var request = request
        request.headers["X-Remote-User"] = name
        return try await next(request)
    }
}
