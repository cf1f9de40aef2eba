// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Authorisers that are asked about the requests that name their method.
@Suite struct AuthenticationMethodTests {
    private let first = TestAuthoriser(.add("X-First", "1"), identifier: "first", method: .basic)
    private let second = TestAuthoriser(
        .add("X-Second", "2"), identifier: "second", method: .partner)

    private func bed(
        _ answers: [ScriptedAnswer] = [], otherwise: ScriptedAnswer = .respond(status: 200)
    ) -> TestBed {
        TestBed(answers, otherwise: otherwise, authorisers: [first, second])
    }

    @discardableResult
    private func perform(_ bed: TestBed, _ methods: [AuthenticationMethod]) -> CancellationToken {
        bed.loader.perform(.make("/x") { $0.authenticationMethods = methods })
    }

    // CA-01, CA-02, CA-03
    @Test
    func `a factory asks the authorisers that a request names, and none when it names none`()
        async
    {
        let bed = bed()
        perform(bed, [.partner])
        perform(bed, [])
        _ = await bed.delegate.outcomes(2)
        #expect(bed.transport.attempts.map { $0.request.headers["X-Second"] } == ["2", nil])
        #expect(first.calls.isEmpty)
    }

    @Test func `a request that names an unknown method fails, and no authoriser is asked`() async {
        let bed = bed()
        let unknown = AuthenticationMethod(rawValue: "unknown")
        perform(bed, [.basic, unknown])
        let end = await bed.delegate.outcomes(1)[0]
        #expect(
            end.response?.error?.underlyingError as? AuthorisationError == .unknownMethod(unknown))
        #expect(bed.transport.attempts.isEmpty)
        #expect(first.calls.isEmpty)
    }

    @Test func `several authorisers take part in one load, in the order of its names`() async {
        first.answers(.change { $0.headers["X-First"] = ($0.headers["X-Second"] ?? "") + "1" })
        let bed = bed()
        perform(bed, [.partner, .basic])
        _ = await bed.delegate.outcomes(1)
        #expect(bed.transport.attempts[0].request.headers["X-First"] == "21")
    }

    @Test func `authorisers without a method are asked in their places, whatever a request names`()
        async
    {
        let order = Locked<[String]>([])
        func authoriser(_ name: String, _ method: AuthenticationMethod? = nil) -> TestAuthoriser {
            TestAuthoriser(
                identifier: name, method: method, onCall: { _ in order.withLock { $0 += [name] } })
        }
        let authorisers = [
            authoriser("a"), authoriser("b", .basic), authoriser("c"), authoriser("d", .partner),
            authoriser("e"),
        ]
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: authorisers)
        perform(bed, [.partner, .basic, .partner])
        _ = await bed.delegate.outcomes(1)
        #expect(order.withLock { $0 } == ["a", "d", "b", "c", "e"])
        perform(bed, [])
        _ = await bed.delegate.outcomes(2)
        #expect(order.withLock { $0 }.suffix(3) == ["a", "c", "e"])
    }

    @Test func `authorisers of one method are all asked, each for its hosts`() async {
        let authorisers = ["a.test", "b.test"].map {
            StaticTokenAuthoriser(token: $0, hosts: [$0], method: .bearer)
        }
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: authorisers)
        for host in ["https://a.test", "https://b.test"] {
            bed.loader.perform(
                .make(host: host) { $0.authenticationMethods = [.bearer] })
        }
        _ = await bed.delegate.outcomes(2)
        let fields = bed.transport.attempts.map { $0.request.headers["Authorization"] }
        #expect(fields == ["Bearer a.test", "Bearer b.test"])
    }

    @Test func `a 401 is told to those who took part, and not to one that passed the request by`()
        async
    {
        let idle = TestAuthoriser(method: .basic, requires: { _ in false })
        let bed = TestBed(otherwise: .respond(status: 401), authorisers: [idle, second])
        perform(bed, [.basic, .partner])
        _ = await bed.delegate.outcomes(1)
        #expect(idle.calls.isEmpty)
        #expect(second.calls.count == 4)
    }

    @Test func `a load ends with the error of the first authoriser that refuses`() async {
        second.answers(.refuse)
        let bed = bed()
        perform(bed, [.partner, .basic])
        let end = await bed.delegate.outcomes(1)[0]
        #expect(end.response?.error?.underlyingError is TestAuthoriser.Refusal)
        #expect(first.calls.isEmpty)
    }

    @Test func `the first answer of each authoriser counts, and no second one`() async {
        first.answers(.hold)
        let bed = bed()
        perform(bed, [.basic, .partner])
        _ = await first.held(1)
        first.grant(0, "X-First", "a")
        first.grant(0, "X-First", "b")
        first.refuse(0)
        _ = await bed.delegate.outcomes(1)
        #expect(bed.error == nil)
        #expect(second.calls == [.authorise("/x")])
        #expect(bed.transport.attempts.map { $0.request.headers["X-First"] } == ["a"])
    }

    @Test func `a 401 is told to the authorisers that a request named, and to no other`() async {
        let bed = bed([.respond(status: 401)])
        perform(bed, [.partner])
        _ = await bed.delegate.outcomes(1)
        #expect(second.calls == [.authorise("/x"), .failed("/x", 401), .authorise("/x")])
        #expect(first.calls.isEmpty)
    }

    @Test func `the authoriser that holds a load is told that it was cancelled`() async {
        second.answers(.hold)
        let bed = bed()
        let token = perform(bed, [.basic, .partner])
        _ = await second.held(1)
        // Only an answer that is waited for by now is told of the end.
        bed.settle()
        token.cancel()
        #expect(bed.error == .cancelled)
        #expect(first.calls == [.authorise("/x")])
        #expect(await second.calls(2) == [.authorise("/x"), .cancel("/x")])
        bed.expectNothingLeft()
    }

    // CA-05, CA-06
    @Test
    func `a reset resets each authoriser once, however often it is listed, and the transport`()
        async
    {
        let bed = TestBed(authorisers: [first, first, second])
        await bed.service.reset()
        #expect(first.calls == [.reset])
        #expect(second.calls == [.reset])
        #expect(bed.transport.resetCount == 1)
    }

    @Test func `a request that names a method fails where no authoriser has one`() async {
        let authoriser = StaticTokenAuthoriser(token: "t", hosts: ["origin.test"])
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(
            .make(host: "https://origin.test") {
                $0.authenticationMethods = [.partner]
            })
        _ = await bed.delegate.outcomes(1)
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a replaced token is in the attempts that begin later, also after a reset`() async {
        let authoriser = StaticTokenAuthoriser(token: "old", hosts: ["origin.test"])
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(.make(host: "https://origin.test"))
        _ = await bed.delegate.outcomes(1)
        authoriser.replaceToken("new")
        bed.loader.perform(.make(host: "https://origin.test"))
        _ = await bed.delegate.outcomes(2)
        await bed.service.reset()
        authoriser.replaceToken("newest")
        bed.loader.perform(.make(host: "https://origin.test"))
        _ = await bed.delegate.outcomes(3)
        let fields = bed.transport.attempts.map { $0.request.headers["Authorization"] }
        #expect(fields == ["Bearer old", "Bearer new", "Bearer newest"])
    }
}

extension AuthenticationMethod {
    fileprivate static let partner = AuthenticationMethod(rawValue: "partner")
}
