// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingAuth
import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// Loads with one URL and one factory whose answers must not replace each other.
@Suite struct CacheIdentityTests {
    private let caching = CacheBed()

    private static let identity = ClientIdentity(
        certificateChain: Data("-----BEGIN CERTIFICATE-----".utf8),
        privateKey: Data("-----BEGIN PRIVATE KEY-----".utf8))

    /// What the URL and the fields of a request do not say.
    private static let apart: [(String, @Sendable (inout DataLoaderRequest) -> Void)] = [
        ("a client identity", { $0.clientIdentity = identity }),
        ("a trust policy", { $0.serverTrustPolicy = ServerTrustPolicy() }),
        ("a body", { $0.body = .data(Data("query".utf8)) }),
    ]

    private func request(
        _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make("/", host: "https://origin.test", change)
    }

    @Test(arguments: apart.indices)
    func `a GET with an identity, a trust or a body of its own uses no cache`(
        index: Int
    ) async throws {
        let (name, change) = Self.apart[index]
        let bed = caching.bed([fresh("own"), fresh("common"), fresh("own again")])
        #expect(text(try await bed.loader.response(for: request(change))) == "own", "\(name)")
        #expect(text(try await bed.loader.response(for: request())) == "common", "\(name)")
        #expect(
            text(try await bed.loader.response(for: request(change))) == "own again", "\(name)")
        #expect(text(try await bed.loader.response(for: request())) == "common", "\(name)")
        await #expect(throws: DataLoaderError.notCached) {
            try await bed.loader.response(
                for: request {
                    change(&$0)
                    $0.cachePolicy = .cacheOnly
                })
        }
        bed.expectNothingLeft()
    }

    @Test func `requests that ask other authorisers of one factory share nothing`() async throws {
        let authorisers = ["a", "b"].map { name in
            TestAuthoriser(.add("X-Key", name), method: AuthenticationMethod(rawValue: name))
        }
        let choices: [@Sendable (inout DataLoaderRequest) -> Void] = [
            { _ in }, { $0.skipsAuthorisation = true },
            { $0.authenticationMethods = [AuthenticationMethod(rawValue: "a")] },
            { $0.authenticationMethods = [AuthenticationMethod(rawValue: "b")] },
        ]
        let bed = caching.bed(
            ["0", "1", "2", "3"].map { fresh($0) },
            authorisers: [TestAuthoriser(.add("X-User", "u"))] + authorisers)
        for _ in 0..<2 {
            for (index, choice) in choices.enumerated() {
                let response = try await bed.loader.response(for: .make("/", choice))
                #expect(text(response) == "\(index)")
            }
        }
        #expect(bed.transport.attempts.count == 4)
        // No transport gets what tells them apart.
        for attempt in bed.transport.attempts {
            #expect(!attempt.request.headers.fields.contains { $0.name.hasPrefix(":") })
        }
    }

    @Test func `users whose credentials are in an option of their requests share nothing`()
        async throws
    {
        let bed = caching.bed(
            ["ada", "bob", "ada again", "nobody"].map { fresh($0) },
            authorisers: [BasicAuthoriser(hosts: ["origin.test"], credentials: nil)])
        var bodies: [String] = []
        for user in ["ada", "bob", "ada"] {
            let credentials = try BasicCredentials(username: user, password: "pw")
            let response = try await bed.loader.response(
                for: request { $0[option: BasicCredentials.self] = credentials })
            bodies.append(text(response))
        }
        let open = try await bed.loader.response(for: request { $0.skipsAuthorisation = true })
        #expect(bodies + [text(open)] == ["ada", "bob", "ada again", "nobody"])
        bed.expectNothingLeft()
    }

    /// Options that no authoriser turns into a credential.
    private static let neutral: [(String, @Sendable (inout DataLoaderRequest) -> Void)] = [
        ("a template", { $0[option: URLTemplate.self] = "/" }),
        ("a trace", { $0[option: TraceParent.self] = TraceContext.makeRoot() }),
        ("a progress", { $0.downloadProgress = { _ in } }),
        ("no identity", { $0.clientIdentity = nil }),
        ("no resumption", { $0.resumesBrokenBodies = false }),
        ("kept fields", { $0.fieldsKeptAcrossOrigins = ["X-Request-Id"] }),
        ("a mark of an authoriser", { $0[option: AuthorisedUntil.self] = nil }),
    ]

    @Test(arguments: neutral.indices)
    func `an option that becomes no credential keeps no load from the cache`(
        index: Int
    ) async throws {
        let (name, change) = Self.neutral[index]
        let bed = caching.bed(
            [fresh("stored")], authorisers: [TestAuthoriser(.add("X-Key", "k"))])
        for source in [ResponseSource.network, .cache] {
            let response = try await bed.loader.response(for: request(change))
            #expect(text(response) == "stored", "\(name)")
            #expect(response.metrics.source == source, "\(name)")
        }
        bed.expectNothingLeft()
    }

    @Test func `callers who decode bodies themselves share no coded response with others`()
        async throws
    {
        // The server forgets to say that it varies on Accept-Encoding.
        let coded: HTTPHeaders = ["Content-Encoding": "gzip"]
        let bed = caching.bed([fresh("decoded", coded), fresh("coded", coded)])
        let own = DataLoaderRequest.make { $0.headers["Accept-Encoding"] = "gzip" }
        for _ in 0..<2 {
            #expect(text(try await bed.loader.response(for: .make())) == "decoded")
            #expect(text(try await bed.loader.response(for: own)) == "coded")
        }
        #expect(bed.transport.attempts.count == 2)
    }

    @Test(arguments: [412, 416, 417])
    func `an answer to a condition, a range or an expectation is not kept for other requests`(
        status: Int
    ) async throws {
        let bed = caching.bed([fresh("no", status: status), fresh("yes")])
        let refused = try await bed.loader.response(
            for: .make { $0.headers["If-Match"] = "\"1\"" })
        #expect(text(refused) == "no")
        #expect(text(try await bed.loader.response(for: .make())) == "yes")
    }

    // RFC 6585 sections 3 to 6 forbid to store four of them. 401 and 407 are answers to credentials,
    // which the cache does not see.
    @Test(arguments: [401, 407, 428, 429, 431, 511])
    func `an answer to credentials, or one that no cache may store, is not kept`(status: Int)
        async throws
    {
        let bed = caching.bed([fresh("no", status: status), fresh("yes")])
        #expect(text(try await bed.loader.response(for: .make())) == "no")
        #expect(text(try await bed.loader.response(for: .make())) == "yes")
    }
}
