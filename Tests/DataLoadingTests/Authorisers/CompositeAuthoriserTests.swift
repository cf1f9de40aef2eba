// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct CompositeAuthoriserTests {
    private let first = TestAuthoriser(.add("X-First", "1"), identifier: "first")
    private let second = TestAuthoriser(.add("X-Second", "2"), identifier: "second")

    private func bed(
        _ answers: [ScriptedAnswer] = [], otherwise: ScriptedAnswer = .respond(status: 200)
    ) -> TestBed {
        let composite = CompositeAuthoriser([.basic: first, .partner: second])
        return TestBed(answers, otherwise: otherwise, authorisers: [composite])
    }

    private func perform(_ bed: TestBed, _ methods: [AuthenticationMethod]) -> CancellationToken {
        bed.loader.perform(.make("/x") { $0[option: AuthenticationMethod.self] = methods })
    }

    // CA-01, CA-02, CA-03
    @Test func `asks whom a request names, and passes on one that names nobody`() async {
        let bed = bed()
        _ = perform(bed, [.partner])
        _ = perform(bed, [])
        _ = await bed.delegate.outcomes(2)
        #expect(bed.transport.attempts.map { $0.request.headers["X-Second"] } == ["2", nil])
        #expect(first.calls.isEmpty)
    }

    @Test func `fails a request that names an unknown method, and asks nobody`() async {
        let bed = bed()
        let unknown = AuthenticationMethod(rawValue: "unknown")
        _ = perform(bed, [.basic, unknown])
        let end = await bed.delegate.outcomes(1)[0]
        #expect(end.response?.underlyingError as? AuthorisationError == .unknownMethod(unknown))
        #expect(bed.transport.attempts.isEmpty)
        #expect(first.calls.isEmpty)
    }

    @Test func `lets several take part in one load, in the order of their names`() async {
        first.answers(.change { $0.headers["X-First"] = ($0.headers["X-Second"] ?? "") + "1" })
        let bed = bed()
        _ = perform(bed, [.partner, .basic])
        _ = await bed.delegate.outcomes(1)
        #expect(bed.transport.attempts[0].request.headers["X-First"] == "21")
    }

    @Test func `passes those by who do not want the request`() async {
        let idle = TestAuthoriser(requires: { _ in false })
        let composite = CompositeAuthoriser([.basic: idle, .partner: second])
        let bed = TestBed(otherwise: .respond(status: 401), authorisers: [composite])
        _ = perform(bed, [.basic, .partner])
        _ = await bed.delegate.outcomes(1)
        #expect(idle.calls.isEmpty)
        #expect(second.calls.count == 4)
    }

    @Test func `ends with the error of the first that refuses`() async {
        second.answers(.refuse)
        let bed = bed()
        _ = perform(bed, [.partner, .basic])
        let end = await bed.delegate.outcomes(1)[0]
        #expect(end.response?.underlyingError is TestAuthoriser.Refusal)
        #expect(first.calls.isEmpty)
    }

    @Test func `ends when one of them drops the question`() async {
        second.answers(.drop)
        let composite = CompositeAuthoriser([.partner: second])
        let bed = TestBed(authorisers: [composite])
        _ = perform(bed, [.partner])
        _ = await bed.delegate.outcomes(1)
        #expect(composite.askedCount == 0)
        #expect(
            bed.error == .cannotAuthenticate(reason: "the authoriser gave no answer"))
    }

    @Test func `takes the first answer of each and no second one`() async {
        first.answers(.hold)
        let bed = bed()
        _ = perform(bed, [.basic, .partner])
        _ = await first.held(1)
        first.grant(0, "X-First", "a")
        first.grant(0, "X-First", "b")
        first.refuse(0)
        _ = await bed.delegate.outcomes(1)
        #expect(bed.error == nil)
        #expect(second.calls == [.authorise("/x")])
        #expect(bed.transport.attempts.map { $0.request.headers["X-First"] } == ["a"])
    }

    @Test func `tells those who took part of a 401, and nobody else`() async {
        let bed = bed([.respond(status: 401)])
        _ = perform(bed, [.partner])
        _ = await bed.delegate.outcomes(1)
        #expect(second.calls == [.authorise("/x"), .failed("/x", 401), .authorise("/x")])
        #expect(first.calls.isEmpty)
    }

    @Test func `tells the one that holds a load that it was cancelled`() async {
        second.answers(.hold)
        let bed = bed()
        let token = perform(bed, [.basic, .partner])
        _ = await second.held(1)
        token.cancel()
        #expect(bed.error == .cancelled)
        #expect(first.calls == [.authorise("/x")])
        #expect(second.calls == [.authorise("/x"), .cancel("/x")])
        bed.expectNothingLeft()
    }

    // CA-05, CA-06
    @Test func `resets each once, whatever names it has, and the transport once`() async {
        let composite = CompositeAuthoriser([.basic: first, .bearer: first, .partner: second])
        let bed = TestBed(authorisers: [composite])
        await bed.service.reset()
        #expect(first.calls == [.reset])
        #expect(second.calls == [.reset])
        #expect(bed.transport.resetCount == 1)
    }

    @Test func `fails a request that names a method which no authoriser of the factory has`() async
    {
        let authoriser = StaticTokenAuthoriser(token: "t", hosts: ["origin.test"])
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(
            .make(host: "https://origin.test") {
                $0[option: AuthenticationMethod.self] = [AuthenticationMethod(rawValue: "partner")]
            })
        _ = await bed.delegate.outcomes(1)
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `keeps its credentials though it is told to refresh and has nobody to ask`()
        async throws
    {
        let basic = BasicAuthoriser(
            hosts: ["origin.test"],
            credentials: try BasicCredentials(username: "ada", password: "pw"))
        let composite = CompositeAuthoriser([.basic: basic])
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [composite])
        composite.refresh()
        for _ in 0..<100 { await Task.yield() }
        bed.loader.perform(
            .make(host: "https://origin.test") { $0[option: AuthenticationMethod.self] = [.basic] })
        _ = await bed.delegate.outcomes(1)
        #expect(bed.error == nil)
    }
}

extension AuthenticationMethod {
    fileprivate static let partner = AuthenticationMethod(rawValue: "partner")
}
