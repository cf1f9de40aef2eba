// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Responses that are meant to harm later loads of their URL, or of all URLs.
@Suite struct CachePoisonTests {
    private let moment = CacheMoment(wall: 0, monotonic: Instant(nanoseconds: 0))

    /// Tags that a request cannot have, or for which servers refuse it.
    private static let tags = [
        "\"\u{7F}\"", "\"a\u{1}b\"", "\"" + String(repeating: "a", count: 100_000) + "\"",
    ]

    @Test(arguments: tags, [false, true])
    func `a tag that cannot be sent back makes no later load fail`(tag: String, isAuthorised: Bool)
        async throws
    {
        let bed = CacheBed().bed(
            [fresh("1", ["ETag": tag], maxAge: 0), fresh("2", ["ETag": tag], maxAge: 0)],
            authorisers: isAuthorised ? [TestAuthoriser(.add("X-Key", "k"))] : [])
        #expect(text(try await bed.loader.response(for: .make())) == "1")
        #expect(text(try await bed.loader.response(for: .make())) == "2")
        #expect(bed.transport.attempts[1].request.headers["If-None-Match"] == nil)
    }

    @Test func `a response that varies on very many fields is not kept`() async throws {
        let names = (0..<1_000).map { "n\($0)" }.joined(separator: ",")
        let bed = CacheBed().bed([fresh("1", ["Vary": names]), fresh("2")])
        #expect(text(try await bed.loader.response(for: .make())) == "1")
        #expect(text(try await bed.loader.response(for: .make())) == "2")
    }

    @Test func `a list of very many fields that must be validated concerns the whole response`() {
        let names = (0..<1_000).map { "n\($0)" }.joined(separator: ",")
        let directives = CacheDirectives(["max-age=60, no-cache=\"\(names)\""])
        #expect(directives.noCache)
        #expect(directives.noCacheFields.isEmpty)
        #expect(!CacheDirectives(["no-cache=\"a, b\""]).noCache)
    }

    @Test func `a stored head does not grow without end by what 304s add`() throws {
        var response = try #require(
            StoredResponse(
                ResponseHead(status: .ok, headers: ["ETag": "\"1\""]), request: [:],
                times: ResponseTimes(requested: moment.monotonic, received: moment),
                hasQuery: false))
        let value = String(repeating: "v", count: 200)
        for round in 0..<100 {
            let fields = (0..<1_000).map {
                HTTPHeaders.Field(name: "n\(round)-\($0)", value: value)
            }
            let confirmed = response.confirmed(
                by: ResponseHead(status: .notModified, headers: HTTPHeaders(fields)), to: [:],
                times: response.times, hasQuery: false)
            guard let confirmed else {
                // The load asks for the whole response then.
                #expect(round > 0)
                return
            }
            response = confirmed
        }
        Issue.record("a head of \(response.headers.fields.count) fields")
    }

    @Test func `the room of a cache in memory counts URLs and the values that chose a variant`()
        throws
    {
        let store = MemoryStore(capacity: 100_000)
        func entry(_ request: HTTPHeaders) throws -> MemoryStore.Entry {
            let response = try #require(
                StoredResponse(
                    ResponseHead(status: .ok, headers: ["Vary": "Accept"]), request: request,
                    times: ResponseTimes(requested: moment.monotonic, received: moment),
                    hasQuery: false))
            return .init(response: response, body: Data())
        }
        let path = "/" + String(repeating: "a", count: 40_000)
        for index in 0..<10 {
            let target = try RequestTarget(text: "http://origin.test\(path)\(index)")
            store.store(
                try entry([:]), CacheKey(.shared, target), for: [:], since: store.stamp)
        }
        #expect(store.usage.evicted == 8)
        let target = try RequestTarget(text: "http://origin.test/")
        for index in 0..<10 {
            let request: HTTPHeaders = [
                "Accept": "\(index)" + String(repeating: "a", count: 40_000)
            ]
            store.store(
                try entry(request), CacheKey(.shared, target), for: request, since: store.stamp)
        }
        #expect(store.usage.bytes <= 100_000)
        #expect(store.usage.evicted > 10)
    }
}
