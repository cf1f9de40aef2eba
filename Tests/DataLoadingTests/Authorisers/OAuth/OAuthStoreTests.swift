// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What the store has is not what this process has.
@Suite struct OAuthStoreTests {
    @Test
    func `an authoriser uses another process's refresh token also after a failure of the server`()
        async throws
    {
        let test = OAuthBed()
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        try await test.store.save(test.refreshElsewhere())
        // That one expires too; then the server is away for a moment.
        test.clock.advance(by: .seconds(3_600))
        test.provider.answerNextTokenQuestion(with: .init(status: 503))
        #expect(await test.load()?.error != nil)
        test.clock.advance(by: .seconds(30))
        #expect(await test.load()?.error == nil)
        #expect(try await test.store.load() != nil)
        test.expectNoViolation()
    }

    @Test func `an authoriser does not restore credentials that another process has deleted`()
        async throws
    {
        let test = OAuthBed()
        await test.logIn()
        // The other process could not reach the server to revoke them.
        try await test.store.save(nil)
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        await test.untilAsked(2, orEnded: 2)
        #expect(test.provider.asked("refresh_token") == 0)
        #expect(try await test.store.load() == nil)
        await test.person.pages.call(1).answer(nil)
        await test.factory.reset()
    }

    @Test func `an authoriser uses another process's login instead of its own`()
        async throws
    {
        let clock = ManualClock()
        let store = MemoryCredentialStore(
            OAuthCredentials(
                accessToken: "a", lifetime: .seconds(3_600), received: clock.date))
        let test = OAuthBed(store: store) { _, provider in
            provider.state.withLock { $0.accessTokens["a"] = (1, .distantFuture) }
        }
        #expect(await test.load()?.error == nil)
        test.clock.advance(by: .seconds(3_600))
        test.provider.state.withLock { $0.accessTokens["b"] = (1, .distantFuture) }
        await store.save(
            OAuthCredentials(
                accessToken: "b", lifetime: .seconds(3_600), received: test.clock.date))
        test.perform()
        await eventually {
            !test.person.asked.elements.isEmpty
                || test.delegate.events.filter(\.isTerminal).count == 2
        }
        #expect(test.person.asked.elements.isEmpty)
        #expect(test.sent.last == "Bearer b")
        await test.factory.reset()
    }

    @Test func `two authorisers that share a store refresh once`() async {
        let test = OAuthBed()
        await test.logIn()
        let authoriser = OAuthAuthoriser(
            OAuthConfiguration(
                server: .endpoints(test.provider.endpoints), flow: .deviceCode,
                clientIdentifier: "client", hosts: ["origin.test"]),
            service: test.bed.service, store: test.store)
        let delegate = RecordingDelegate()
        let loader = test.bed.service.makeFactory(authorisers: [authoriser])
            .makeDataLoader(delegate: delegate)
        loader.perform(.make("/other", host: "https://origin.test"))
        _ = await delegate.outcomes(1)
        test.clock.advance(by: .seconds(3_600))
        let asked = test.bed.transport.attempts.count
        test.bed.transport.then(.hold)
        test.perform()
        let attempt = await test.bed.attempt(asked)
        loader.perform(.make("/other", host: "https://origin.test"))
        for _ in 0..<100 { await Task.yield() }
        test.provider.serve(attempt)
        _ = await delegate.outcomes(2)
        #expect(test.provider.asked("refresh_token") == 1)
        test.expectNoViolation()
    }

    @Test func `a refresh token is sent only to the server that issued it`() async {
        let first = OAuthBed()
        await first.logIn()
        let second = OAuthBed(store: first.store) { configuration, _ in
            configuration.server = .endpoints(
                OAuthEndpoints(token: testURL("https://other.test/token")))
        }
        second.clock.advance(by: .seconds(3_600))
        second.perform()
        await eventually { second.delegate.events.contains(where: \.isTerminal) }
        let bodies = second.bed.transport.attempts.filter { $0.request.url.host == "other.test" }
            .map { String(decoding: $0.takeBody() ?? Data(), as: UTF8.self) }
        #expect(!bodies.contains { $0.contains("refresh-2") })
    }

    @Test func `a log-out revokes each token once though the store rounds times`() async {
        let directory = TemporaryDirectory()
        let test = OAuthBed(store: FileCredentialStore(file: directory.url("c.json")))
        test.clock.setDate(Date(timeIntervalSinceReferenceDate: 788_918_400.123456789))
        await test.logIn()
        await test.factory.reset()
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
    }
}
