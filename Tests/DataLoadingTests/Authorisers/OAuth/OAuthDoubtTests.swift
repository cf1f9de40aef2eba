// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A token that one resource does not take, where a person has to be asked for another one.
@Suite(.timeLimit(.minutes(15))) struct OAuthDoubtTests {
    /// A login whose server issues no refresh token: classic OAuth apps, or no `offline_access`.
    private func loggedIn() async -> OAuthBed {
        let test = OAuthBed { _, provider in
            provider.state.withLock { $0.issuesRefreshTokens = false }
        }
        await test.logIn()
        return test
    }

    /// How many loads have ended.
    private func ended(_ test: OAuthBed) -> Int { test.delegate.events.filter(\.isTerminal).count }

    @Test func `a token that one resource refuses serves the others while a person is asked`()
        async
    {
        let test = await loggedIn()
        test.perform("/bad")
        // A load that holds its place since before the page was shown, or comes after.
        test.perform("/good")
        _ = await test.person.asked.first(2)
        test.perform("/good")
        await eventually { ended(test) == 3 }
        #expect(test.sent == Array(repeating: "Bearer access-2", count: 4))
        // The one that was refused waits for the person.
        await test.consent(1)
        let ends = await test.ends(4)
        #expect(ends.map { $0?.error } == [nil, nil, nil, .status(.unauthorised)])
        #expect(test.sent.last == "Bearer access-4")
        test.expectNoViolation()
    }

    @Test func `a token that every resource refuses is not sent while a person is asked`()
        async
    {
        let test = await loggedIn()
        test.provider.expireAccessTokens()
        test.perform(10)
        _ = await test.person.asked.first(2)
        test.perform(10)
        await eventually { test.sent.count == 21 }
        #expect(ended(test) == 1)
        await test.consent(1)
        #expect(await test.ends(21).allSatisfy { $0?.error == nil })
        #expect(test.person.asked.elements.count == 2)
        test.expectNoViolation()
    }

    // A token that every resource refuses, and that cannot be refreshed, is dropped.
    @Test func `a token whose refresh is refused is not sent while a person is asked`() async {
        let test = OAuthBed { configuration, _ in configuration.startsOverAfterRefusal = true }
        await test.logIn()
        test.provider.expireAccessTokens()
        test.provider.answerNextTokenQuestion(with: .refuse("invalid_grant"))
        test.perform()
        _ = await test.person.asked.first(2)
        test.perform(10)
        test.bed.settle()
        #expect(test.sent == ["Bearer access-2", "Bearer access-2"])
        await test.consent(1)
        #expect(await test.ends(12).allSatisfy { $0?.error == nil })
        #expect(test.sent.count == 13)
        test.expectNoViolation()
    }

    @Test func `a person who gives up leaves the token to the loads, and the 401 to the one`()
        async
    {
        let test = await loggedIn()
        test.perform("/bad")
        _ = await test.person.asked.first(2)
        await test.person.pages.call(1).answer(nil)
        #expect(await test.ends(2)[1]?.error == .status(.unauthorised))
        #expect(await test.load()?.error == nil)
        #expect(test.person.asked.elements.count == 2)
    }

    // The code of the redirect may be too old; that says nothing about the token.
    @Test(arguments: ["invalid_grant", "login_required"])
    func `a login that is refused leaves the token to the loads`(code: String) async {
        let test = await loggedIn()
        test.perform("/bad")
        test.provider.answerNextTokenQuestion(with: .refuse(code))
        await test.consent(1)
        #expect(await test.ends(2)[1]?.error == .status(.unauthorised))
        #expect(await test.load()?.error == nil)
        #expect(test.sent.last == "Bearer access-2")
    }
}
