// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Rows of OAuth that say when, in which order and to whom.
@Suite struct OAuthRowsTests {
    // OM-05: a store may ask a person or a disk.
    @Test func `loads wait for a store that answers late, and use what it has`() async {
        let store = HeldStore(holdsLoads: true)
        let test = OAuthBed(store: store)
        test.perform(3)
        let load = await store.loads.call(0)
        test.bed.settle()
        #expect(test.bed.transport.attempts.isEmpty)
        #expect(test.delegate.events.isEmpty)
        test.provider.state.withLock { $0.accessTokens["late"] = (1, .distantFuture) }
        load.answer(OAuthCredentials(accessToken: "late", received: test.clock.date))
        #expect(await test.ends(3).allSatisfy { $0?.error == nil })
        #expect(test.sent == Array(repeating: "Bearer late", count: 3))
        #expect(test.person.asked.elements.isEmpty)
        #expect(store.loads.count == 1)
    }

    // OM-05: nothing was kept.
    @Test func `a store that answers late that it has nothing begins a login`() async {
        let store = HeldStore(holdsLoads: true)
        let test = OAuthBed(store: store)
        test.perform()
        let load = await store.loads.call(0)
        #expect(test.person.asked.elements.isEmpty)
        store.letGo()
        load.answer(nil)
        await test.consent()
        #expect(await test.ends(1)[0]?.error == nil)
        #expect(test.sent == ["Bearer access-2"])
    }

    // OL-07
    @Test func `new credentials are handed to the store, each time, and nil when they go`()
        async
    {
        let store = HeldStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        await test.factory.reset()
        let saved = store.saves.elements
        #expect(saved.map { $0?.accessToken } == ["access-2", "access-3", nil])
        #expect(saved.map { $0?.refreshToken } == ["refresh-2", "refresh-3", nil])
    }

    // OM-10, OM-20: the order, not only that both have happened.
    @Test func `no load is sent with credentials before the store has kept them`() async {
        let store = HeldStore(holdsSaves: true)
        let test = OAuthBed(store: store)
        test.perform(2)
        await test.consent()
        #expect(await store.saves.first(1)[0]?.accessToken == "access-2")
        test.bed.settle()
        #expect(test.sent.isEmpty)
        #expect(test.delegate.events.isEmpty)
        store.letGo()
        #expect(await test.ends(2).allSatisfy { $0?.error == nil })
        #expect(test.sent == ["Bearer access-2", "Bearer access-2"])
        #expect(store.kept.withLock { $0 }?.accessToken == "access-2")
    }

    // OM-06, and RFC 6749 section 2.3.1: each way has its fields, and the secret goes nowhere else.
    @Test(arguments: ["basic", "form", "none"])
    func `a refresh has the fields of the RFC, and no one else sees the secret`(way: String)
        async throws
    {
        let secret = "s+cret"
        let test = OAuthBed { configuration, _ in
            switch way {
            case "basic": configuration.clientAuthentication = .basic(secret: secret)
            case "form": configuration.clientAuthentication = .form(secret: secret)
            default: configuration.clientAuthentication = .none
            }
        }
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        let questions = test.provider.state.withLock { $0.questions }
        let refresh = try #require(questions.last { $0.form["grant_type"] == "refresh_token" })
        var fields = ["grant_type": "refresh_token", "refresh_token": "refresh-2"]
        if way != "basic" { fields["client_id"] = "client" }
        if way == "form" { fields["client_secret"] = secret }
        #expect(refresh.form == fields)
        let basic = "Basic " + Data("client:s%2Bcret".utf8).base64EncodedString()
        #expect(refresh.authorization == (way == "basic" ? basic : nil))
        #expect(refresh.contentType == "application/x-www-form-urlencoded")

        let shown = [secret, "s%2Bcret", basic]
        for attempt in test.bed.transport.attempts {
            let isToken = attempt.request.url.path == "/token"
            let body = String(decoding: attempt.takeBody() ?? Data(), as: UTF8.self)
            let fields = attempt.request.headers.fields.map(\.value).joined(separator: "\n")
            let all = [attempt.request.url.absoluteString, fields, body]
            let hasSecret = all.contains { text in shown.contains { text.contains($0) } }
            #expect(hasSecret == (isToken && way != "none"), "\(attempt.request.url.path)")
        }
        let page = try #require(test.person.asked.elements.first).absoluteString
        #expect(!shown.contains { page.contains($0) })
        test.expectNoViolation()
    }

    // OM-07: authorised like any other load of the host it would wait for the token that it fetches.
    @Test func `a refresh passes every authoriser though its host is one of theirs`() async {
        let test = OAuthBed { configuration, _ in
            configuration.hosts = ["origin.test", "auth.test"]
        }
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        #expect(test.provider.asked("refresh_token") == 1)
        let asked = test.bed.transport.attempts.filter { $0.request.url.host == "auth.test" }
        #expect(asked.count == 2)
        #expect(asked.allSatisfy { !$0.request.headers.contains("Authorization") })
        test.expectNoViolation()
    }

    // Servers have names of their own for a refresh token that is good for nothing any more.
    @Test(arguments: [
        ("bad_refresh_token", true), ("invalid_refresh_token", true), ("token_expired", true),
        ("interaction_required", true), ("invalid_client", false), ("invalid_scope", false),
        ("temporarily_unavailable", false), ("server_error", false), ("slow_down", false),
    ])
    func `a refusal that ends the refresh token is told from others by its code`(
        code: String, isEnd: Bool
    ) async {
        let store = HeldStore()
        let test = OAuthBed(store: store) { configuration, _ in
            configuration.startsOverAfterRefusal = true
        }
        await test.logIn()
        test.provider.answerNextTokenQuestion(with: .refuse(code))
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        await test.untilAsked(2, orEnded: 2)
        #expect(test.person.asked.elements.count == (isEnd ? 2 : 1))
        #expect((store.kept.withLock { $0 } == nil) == isEnd)
        if isEnd { await test.person.pages.call(1).answer(nil) }
        _ = await test.ends(2)
        await test.factory.reset()
    }
}
