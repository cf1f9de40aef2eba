// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A request needs only a URL; everything else has a default.
@Suite struct DataLoaderRequestTests {
    private enum Feature: RequestOption {
        static let defaultValue: String? = nil
    }

    private enum Count: RequestOption {
        static let defaultValue = 7
    }

    @Test func `a request needs only a URL and has the documented defaults`() {
        let request = DataLoaderRequest(url: testURL("http://h/"))
        #expect(request.sourceIdentifier == nil)
        #expect(request.method == .get)
        #expect(request.headers.fields.isEmpty)
        #expect(request.body == nil)
        #expect(request.timeout == nil)
        #expect(request.maximumRetryCount == nil)
        #expect(request.retryPolicy == nil)
        #expect(!request.chunks)
        #expect(request.cachePolicy == .useProtocolPolicy)
        #expect(request.priority == .normal)
        #expect(request.isIdempotent == nil)
        #expect(!request.waitsForConnectivity)
    }

    @Test func `a request has an identifier of its own, which copies share`() {
        let request = DataLoaderRequest(url: testURL("http://h/"))
        var copy = request
        copy.method = .post
        #expect(copy.uniqueIdentifier == request.uniqueIdentifier)
        let numbers = (0..<1_000).map { _ in
            DataLoaderRequest(url: testURL("http://h/")).uniqueIdentifier
        }
        #expect(Set(numbers).count == 1_000)
        #expect(!numbers.contains(request.uniqueIdentifier))
    }

    @Test func `request options are stored by type and have defaults`() {
        var request = DataLoaderRequest(url: testURL("http://h/"))
        #expect(request[option: Feature.self] == nil)
        #expect(request[option: Count.self] == 7)
        request[option: Feature.self] = "search"
        request[option: Count.self] = 8
        let copy = request
        request[option: Feature.self] = nil
        #expect(request[option: Feature.self] == nil)
        #expect(copy[option: Feature.self] == "search")
        #expect(copy[option: Count.self] == 8)
    }

    private enum Label: RequestOption {
        static let defaultValue: String? = nil
        static var staysWithOrigin: Bool { false }
    }

    // An option may contain a secret, so it crosses origins only if its type says so.
    @Test func `request options stay with their origin unless their type says otherwise`() async {
        let seen = Locked<[[String?]]>([])
        let authoriser = TestAuthoriser(
            .change { request in
                let facts = [request[option: Feature.self], request[option: Label.self]]
                seen.withLock { $0.append(facts) }
            })
        let bed = TestBed(
            ["/b", "http://other.test/c"].map {
                .respond(status: 302, headers: ["Location": $0])
            }, otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(
            .make("/a") { request in
                request[option: Feature.self] = "secret"
                request[option: Label.self] = "search"
            })
        _ = await bed.outcome()
        #expect(
            seen.withLock { $0 } == [
                ["secret", "search"], ["secret", "search"], [nil, "search"],
            ])
    }

    // The library's own options apply wherever a redirect leads.
    @Test func `the library's own options hold after a redirect to another origin`() async {
        let authoriser = TestAuthoriser(.add("X-Added", "1"))
        let bed = TestBed(
            [.respond(status: 302, headers: ["Location": "http://other.test/"])],
            otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(
            .make { request in
                request.skipsAuthorisation = true
                request.fieldsKeptAcrossOrigins = ["X-Mine"]
                request.headers["X-Mine"] = "2"
            })
        _ = await bed.outcome()
        #expect(authoriser.calls.isEmpty)
        #expect(bed.transport.attempts.map { $0.request.headers["X-Mine"] } == ["2", "2"])
    }

    @Test func `request options reach authorisers and observers`() async {
        let seen = Locked<String?>(nil)
        let authoriser = TestAuthoriser(requires: { request in
            seen.withLock { $0 = request[option: Feature.self] }
            return false
        })
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(.make { $0[option: Feature.self] = "search" })
        let entry = await bed.observer.entries(1)[0]
        #expect(entry.response.request[option: Feature.self] == "search")
        #expect(seen.withLock { $0 } == "search")
    }

    @Test func `a request may be sent twice by its method, its key or its flag`() {
        var request = DataLoaderRequest(url: testURL("http://h/"))
        #expect(request.mayBeSentTwice)
        request.method = .post
        #expect(!request.mayBeSentTwice)
        request.headers["idempotency-key"] = "k"
        #expect(request.mayBeSentTwice)
        request.isIdempotent = false
        #expect(!request.mayBeSentTwice)
    }

    @Test func `a request's description has no query, header or body`() {
        var request = DataLoaderRequest(url: testURL("http://user:canary@h/p?canary#canary"))
        #expect(!"\(request)".contains("canary"))
        request.url = testURL("http://h/p?canary#canary")
        request.headers["X"] = "canary"
        request.body = .data(Data("canary".utf8))
        #expect("\(request)" == "GET http://h/p?…")
        #expect(!String(reflecting: request).contains("canary"))
    }
}
