// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct BasicAuthoriserTests {
    private static func credentials(_ name: String) throws -> BasicCredentials {
        try BasicCredentials(username: name, password: "pw")
    }

    private static func field(_ name: String) throws -> String { try credentials(name).fieldValue }

    private func bed(
        stored: BasicCredentials? = nil, fetch: HeldFetch<BasicCredentials?>? = nil,
        accepting name: String? = nil
    ) throws -> TestBed {
        let accepted = try name.map(Self.field)
        let authoriser: BasicAuthoriser
        if let fetch {
            authoriser = BasicAuthoriser(hosts: ["origin.test"], credentials: stored) {
                try await fetch($0)
            }
        } else {
            authoriser = BasicAuthoriser(hosts: ["origin.test"], credentials: stored)
        }
        let answer = ScriptedAnswer.run { attempt in
            let field = attempt.request.headers["Authorization"]
            attempt.respond(status: accepted == nil || field == accepted ? 200 : 401)
        }
        return TestBed(otherwise: answer, authorisers: [authoriser])
    }

    private func perform(_ bed: TestBed, own: BasicCredentials? = nil) -> CancellationToken {
        bed.loader.perform(
            .make(host: "https://origin.test") { request in
                if let own { request[option: BasicCredentials.self] = own }
            })
    }

    private func sent(_ bed: TestBed) -> [String?] {
        bed.transport.attempts.map { $0.request.headers["Authorization"] }
    }

    // BA-01, BA-03, RFC 7617 sections 2 and 2.1
    @Test func `Basic encodes user name and password as the RFC says`() throws {
        let aladdin = try BasicCredentials(username: "Aladdin", password: "open sesame")
        #expect(aladdin.fieldValue == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let test = try BasicCredentials(username: "test", password: "123£")
        #expect(test.fieldValue == "Basic dGVzdDoxMjPCow==")
        let empty = try BasicCredentials(username: "", password: "a:b")
        #expect(empty.fieldValue == "Basic OmE6Yg==")
        let read = try JSONDecoder().decode(
            BasicCredentials.self, from: JSONEncoder().encode(aladdin))
        #expect(read == aladdin)
        #expect(Set([aladdin, read, test]).count == 2)
        #expect(!"\(aladdin)\(String(reflecting: aladdin))".contains("sesame"))
    }

    @Test(arguments: [("a:b", "pw"), ("a\nb", "pw"), ("a", "p\0w"), ("a", "\u{7F}")])
    func `credentials that Basic cannot carry are refused`(username: String, password: String)
        throws
    {
        #expect(throws: AuthorisationError.self) {
            try BasicCredentials(username: username, password: password)
        }
        let json = try JSONEncoder().encode(["username": username, "password": password])
        #expect(throws: AuthorisationError.self) {
            try JSONDecoder().decode(BasicCredentials.self, from: json)
        }
    }

    // BA-02, BA-04
    @Test func `Basic takes a request's own credentials, then the stored ones, then asks`()
        async throws
    {
        let fetch = HeldFetch<BasicCredentials?>()
        let bed = try bed(fetch: fetch)
        _ = perform(bed)
        let call = await fetch.call(0)
        // Own ones go by the queue, even while somebody is asked.
        _ = perform(bed, own: try Self.credentials("own"))
        #expect(await bed.attempt(0).request.headers["Authorization"] == (try Self.field("own")))
        call.answer(try Self.credentials("asked"))
        _ = await bed.delegate.outcomes(2)
        let other = try self.bed(stored: try Self.credentials("stored"), fetch: fetch)
        _ = perform(other)
        _ = await other.delegate.outcomes(1)
        #expect(sent(other) == [try Self.field("stored")])
        #expect(sent(bed) == [try Self.field("own"), try Self.field("asked")])
        #expect(fetch.count == 1)
    }

    // BA-05, BA-06, BA-09
    @Test func `Basic asks once for all loads that wait, and they are sent in their order`()
        async throws
    {
        let fetch = HeldFetch<BasicCredentials?>()
        let bed = try bed(fetch: fetch)
        for index in 0..<50 {
            bed.loader.perform(.make("/\(index)", host: "https://origin.test"))
        }
        let call = await fetch.call(0)
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
        call.answer(try Self.credentials("a"))
        let ends = await bed.delegate.outcomes(50)
        #expect(ends.allSatisfy { $0.response?.error == nil })
        #expect(fetch.count == 1)
        #expect(sent(bed) == Array(repeating: try Self.field("a"), count: 50))
        #expect(bed.transport.attempts.map(\.request.url.path) == (0..<50).map { "/\($0)" })
    }

    // BA-10
    @Test func `loads that wait fail without credentials, and Basic asks again for the next one`()
        async throws
    {
        let fetch = HeldFetch<BasicCredentials?>()
        let bed = try bed(fetch: fetch)
        for _ in 0..<3 { _ = perform(bed) }
        let call = await fetch.call(0)
        bed.settle()
        call.answer(nil)
        let ends = await bed.delegate.outcomes(3)
        #expect(
            ends.allSatisfy {
                $0.response?.error == .cannotAuthenticate(reason: "basic: there are no credentials")
            })
        _ = perform(bed)
        await fetch.call(1).answer(try Self.credentials("a"))
        #expect(await bed.delegate.outcomes(4).last?.response?.error == nil)
    }

    // BA-08
    @Test func `a load fails when Basic has no delegate to ask`() async throws {
        let bed = try bed()
        _ = perform(bed)
        let end = await bed.delegate.outcomes(1)[0]
        #expect(end.response?.error?.underlyingError as? AuthorisationError == .noCredentials)
    }

    // BA-13
    @Test func `a load that was cancelled while Basic asked is never sent`() async throws {
        let fetch = HeldFetch<BasicCredentials?>()
        let bed = try bed(fetch: fetch)
        let token = perform(bed)
        let call = await fetch.call(0)
        token.cancel()
        call.answer(try Self.credentials("a"))
        _ = perform(bed)
        _ = await bed.delegate.outcomes(2)
        #expect(bed.transport.attempts.count == 1)
        #expect(fetch.count == 1)
    }

    // BA-11, BA-12, BA-15
    @Test func `Basic drops an answer from before a reset, even while it asks again`() async throws
    {
        let fetch = HeldFetch<BasicCredentials?>()
        let bed = try bed(fetch: fetch)
        _ = perform(bed)
        let first = await fetch.call(0)
        await bed.factory.reset()
        #expect(bed.error == .reset)
        _ = perform(bed)
        let second = await fetch.call(1)
        first.answer(try Self.credentials("stale"))
        second.answer(try Self.credentials("fresh"))
        _ = await bed.delegate.outcomes(2)
        #expect(sent(bed) == [try Self.field("fresh")])
    }

    @Test func `a load ends at its deadline when Basic gets no answer`() async throws {
        let fetch = HeldFetch<BasicCredentials?>()
        let bed = try bed(fetch: fetch)
        _ = perform(bed)
        let call = await fetch.call(0)
        bed.advance(.seconds(60))
        #expect(
            bed.error == .timedOut(after: .seconds(60), mayHaveBeenProcessed: false))
        call.answer(nil)
    }

    // BA-16
    @Test func `Basic does not change a request that opts out`() async throws {
        let bed = try bed(stored: try Self.credentials("stored"))
        bed.loader.perform(
            .make(host: "https://origin.test") { $0.skipsAuthorisation = true })
        _ = await bed.delegate.outcomes(1)
        #expect(sent(bed) == [nil])
    }

    // BA-17
    @Test func `Basic does not read user information in a URL`() async throws {
        let bed = try bed(stored: try Self.credentials("stored"))
        bed.loader.perform(.make(host: "https://ada:secret@origin.test"))
        #expect(bed.error == .invalidRequest(.userInformation))
    }

    // BA-18
    @Test func `Basic asks once in place of refused credentials, and shows those to its delegate`()
        async throws
    {
        let fetch = HeldFetch<BasicCredentials?>()
        let old = try Self.credentials("old")
        let bed = try bed(stored: old, fetch: fetch, accepting: "new")
        for _ in 0..<5 { _ = perform(bed) }
        let call = await fetch.call(0)
        #expect(call.previous == .some(old))
        call.answer(try Self.credentials("new"))
        let ends = await bed.delegate.outcomes(5)
        #expect(ends.allSatisfy { $0.response?.error == nil })
        #expect(fetch.count == 1)
    }

    // One refusal may be another resource's rule, or a server that has just started.
    @Test func `a 401 without a provider is delivered, and the credentials are used again`()
        async throws
    {
        let authoriser = BasicAuthoriser(
            hosts: ["origin.test"], credentials: try Self.credentials("old"))
        let bed = TestBed(
            [.respond(status: 401)], otherwise: .respond(status: 200), authorisers: [authoriser])
        _ = perform(bed)
        _ = await bed.delegate.outcomes(1)
        #expect(bed.error == .status(.unauthorised))
        #expect(bed.transport.attempts.count == 1)
        _ = perform(bed)
        #expect(await bed.delegate.outcomes(2)[1].response?.error == nil)
        let field = try Self.field("old")
        #expect(sent(bed) == [field, field])
    }

    // RFC 7617 section 2.1: Swift takes both spellings for equal, a server does not.
    @Test func `one name has one spelling on the wire`() throws {
        let composed = try BasicCredentials(username: "ren\u{E9}", password: "caf\u{E9}")
        let decomposed = try BasicCredentials(username: "rene\u{301}", password: "cafe\u{301}")
        #expect(composed.fieldValue == "Basic cmVuw6k6Y2Fmw6k=")
        #expect(decomposed.fieldValue == composed.fieldValue)
    }

    // RFC 9110 section 9.3.8
    @Test func `no TRACE has credentials, its own neither`() throws {
        let own = try Self.credentials("own")
        let authoriser = BasicAuthoriser(hosts: ["origin.test"], credentials: own)
        var request = DataLoaderRequest.make(host: "https://origin.test")
        #expect(authoriser.takesPart(in: request))
        request.method = .trace
        #expect(!authoriser.takesPart(in: request))
        request[option: BasicCredentials.self] = own
        #expect(!authoriser.takesPart(in: request))
    }

    @Test func `a request's own credentials are sent once, and their 401 is delivered`()
        async throws
    {
        let fetch = HeldFetch<BasicCredentials?>()
        let bed = try bed(fetch: fetch, accepting: "new")
        _ = perform(bed, own: try Self.credentials("own"))
        _ = await bed.delegate.outcomes(1)
        #expect(bed.error == .status(.unauthorised))
        #expect(bed.transport.attempts.count == 1)
        #expect(fetch.count == 0)
    }

    // FAULTS P10
    @Test func `a request's own credentials are not sent along a redirect to another origin`()
        async throws
    {
        let stored = try Self.credentials("stored")
        let authoriser = BasicAuthoriser(hosts: ["a.test", "b.test"], credentials: stored)
        let bed = TestBed(
            [
                .respond(status: 307, headers: ["Location": "/again"]),
                .respond(status: 307, headers: ["Location": "https://c.test/"]),
                .respond(status: 307, headers: ["Location": "https://a.test/back"]),
                .respond(status: 200),
            ], authorisers: [authoriser])
        let own = try Self.credentials("own")
        bed.loader.perform(
            .make(host: "https://a.test") { $0[option: BasicCredentials.self] = own })
        _ = await bed.delegate.outcomes(1)
        #expect(sent(bed) == [own.fieldValue, own.fieldValue, nil, stored.fieldValue])
    }
}
