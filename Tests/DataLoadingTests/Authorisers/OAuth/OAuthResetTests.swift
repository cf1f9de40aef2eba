// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// OM-04, OM-24, OM-25, OL-13 to OL-19, and 1.11: a log out in every state.
@Suite struct OAuthResetTests {
    // OL-15, OL-18: the common case.
    @Test func `a log-out revokes the tokens, empties the store and shows the log-out page`()
        async throws
    {
        let test = OAuthBed { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.endSession = provider.endpoint("/bye")
            configuration.server = .endpoints(endpoints)
        }
        await test.logIn()
        await test.factory.reset()
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
        #expect(try await test.store.load() == nil)
        #expect(await test.person.loggedOut.first(1) == [test.provider.endpoint("/bye")])
        test.perform()
        await test.consent(1)
        #expect(await test.ends(2).last??.error == nil)
        test.expectNoViolation()
    }

    // OL-18: the copy here goes even when the server cannot be reached.
    @Test func `a log-out empties the store though the server does not answer`() async throws {
        let test = OAuthBed { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.revocation = testURL("https://auth.test/nowhere")
            configuration.server = .endpoints(endpoints)
        }
        await test.logIn()
        await test.factory.reset()
        #expect(try await test.store.load() == nil)
    }

    @Test func `a log-out's requests are sent while the whole service is reset`() async throws {
        let test = OAuthBed()
        await test.logIn()
        await test.bed.service.reset()
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
        #expect(test.bed.transport.resetCount == 1)
    }

    // OM-24, OL-14: while the page is open; OM-04: the late answer does nothing.
    @Test func `a reset ends a login, whose late answer is dropped`() async throws {
        let test = OAuthBed()
        test.perform(3)
        let page = await test.person.asked.first(1)[0]
        await test.factory.reset()
        #expect(await test.ends(3).allSatisfy { $0?.error == .reset })
        await test.person.pages.call(0).answer(test.provider.consent(at: page))
        test.perform()
        await test.consent(1)
        #expect(await test.ends(4).last??.error == nil)
        #expect(test.provider.asked("authorization_code") == 1)
    }

    // OM-24: mid-exchange and mid-refresh; what the server answers late is not kept.
    @Test(arguments: [false, true])
    func `a reset ends a request to the server, and drops its answer`(isRefresh: Bool)
        async throws
    {
        let test = OAuthBed()
        let attempt = await held(test, isRefresh: isRefresh)
        #expect(attempt.request.url.path == "/token")
        await test.factory.reset()
        attempt.respond(
            status: 200, body: Data(#"{"access_token":"late","token_type":"Bearer"}"#.utf8))
        #expect(await test.ends(isRefresh ? 2 : 1).last??.error == .reset)
        #expect(try await test.store.load() == nil)
    }

    // What the server may have issued is known to no client.
    @Test(.timeLimit(.minutes(15)), arguments: [false, true])
    func `a reset that ends a request for tokens reports that they are not revoked`(
        isRefresh: Bool
    ) async {
        let test = OAuthBed()
        _ = await held(test, isRefresh: isRefresh)
        await test.factory.reset()
        let reports = await test.person.unrevoked.first(1)
        #expect(reports as? [AuthorisationError] == [.reset])
    }

    /// Begins a refresh or the exchange of a code, which the server does not answer.
    private func held(_ test: OAuthBed, isRefresh: Bool) async -> ScriptedAttempt {
        if isRefresh { await test.logIn() }
        let asked = test.bed.transport.attempts.count
        test.bed.transport.then(.hold)
        if isRefresh { test.clock.advance(by: .seconds(3_600)) }
        test.perform()
        if !isRefresh { await test.consent() }
        return await test.bed.attempt(asked)
    }

    // 1.11: nothing runs; already resetting.
    @Test func `a reset may run without credentials, and twice at a time`() async {
        let test = OAuthBed()
        await test.factory.reset()
        #expect(test.provider.state.withLock { $0.questions.isEmpty })
        await test.logIn()
        async let first = test.factory.reset()
        async let second = test.factory.reset()
        _ = await (first, second)
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
    }

    // OL-19: a request that arrives during it.
    @Test func `a log-out refuses loads of every factory while it runs`() async throws {
        let test = OAuthBed()
        await test.logIn()
        let asked = test.bed.transport.attempts.count
        test.bed.transport.then(.hold)
        let other = test.bed.service.makeFactory(authorisers: [test.authoriser]).makeDataLoader()
        async let reset = test.factory.reset()
        let revocation = await test.bed.attempt(asked)
        let request = DataLoaderRequest.make(host: "https://origin.test")
        await #expect(
            throws: DataLoaderError.cannotAuthenticate(reason: "oauth: the authoriser was reset")
        ) {
            try await other.response(for: request)
        }
        test.perform()
        #expect(await test.ends(2).last??.error == .resetInProgress)
        revocation.respond(status: 200)
        _ = await reset
    }

    // OL-13: the delegate may go.
    @Test func `a load fails when its authoriser has no delegate`() async {
        let clock = ManualClock()
        let provider = StrictProvider { clock.instant }
        let bed = TestBed(otherwise: .run { provider.serve($0) }, clock: clock)
        let authoriser = OAuthAuthoriser(
            OAuthConfiguration(
                server: .endpoints(provider.endpoints),
                flow: .authorizationCode(redirect: OAuthBed.redirect), clientIdentifier: "client",
                hosts: ["origin.test"]), service: bed.service)
        let loader = bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        let reason = "oauth: the configuration is invalid: no delegate is there"
        await #expect(throws: DataLoaderError.cannotAuthenticate(reason: reason)) {
            try await loader.response(for: .make(host: "https://origin.test"))
        }
    }
}
