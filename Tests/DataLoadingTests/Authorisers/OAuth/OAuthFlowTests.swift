// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct OAuthFlowTests {
    // OM-01, OM-02, OM-12, OM-14, OM-17
    @Test func `an authoriser logs in once for all loads that wait, and they are sent`() async {
        let test = OAuthBed()
        test.perform(20)
        await test.consent()
        #expect(await test.ends(20).allSatisfy { $0?.error == nil })
        #expect(test.person.asked.elements.count == 1)
        #expect(test.provider.asked("authorization_code") == 1)
        #expect(Set(test.sent) == ["Bearer access-2"])
        test.expectNoViolation()
    }

    @Test func `an authoriser stores a login's tokens with their lifetime and receipt`()
        async throws
    {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        let stored = try await test.store.load()
        #expect(stored?.accessToken == "access-2")
        #expect(stored?.refreshToken == "refresh-2")
        #expect(stored?.lifetime == .seconds(3_600))
        #expect(stored?.received == test.clock.date)
    }

    // OM-01, OL-06
    @Test func `an authoriser uses stored credentials without a login`() async {
        let first = OAuthBed()
        first.perform()
        await first.consent()
        _ = await first.ends(1)
        let second = OAuthBed(store: first.store)
        first.provider.state.withLock { old in
            let tokens = old.accessTokens
            second.provider.state.withLock { $0.accessTokens = tokens }
        }
        #expect(await second.load()?.error == nil)
        #expect(second.person.asked.elements.isEmpty)
        #expect(second.provider.state.withLock { $0.questions.isEmpty })
    }

    @Test func `an authoriser refreshes with the newest refresh token`() async throws {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        for round in 1...5 {
            test.clock.advance(by: .seconds(3_600))
            #expect(await test.load()?.error == nil)
            #expect(test.provider.asked("refresh_token") == round)
        }
        #expect(try await test.store.load()?.refreshToken == "refresh-7")
        #expect(test.person.asked.elements.count == 1)
        test.expectNoViolation()
    }

    // RFC 6749 section 6: a server need not replace it.
    @Test func `an authoriser keeps a refresh token that is not replaced`() async throws {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.provider.answerNextTokenQuestion(
            with: .init(fields: [
                "access_token": .string("other"), "token_type": .string("bearer"),
                "expires_in": .string("60"),
            ]))
        let expiry = test.clock.instant + .seconds(3_660)
        test.provider.state.withLock { $0.accessTokens["other"] = (2, expiry) }
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        let stored = try await test.store.load()
        #expect(stored?.accessToken == "other")
        #expect(stored?.refreshToken == "refresh-2")
        // And it is what gets the next one.
        test.clock.advance(by: .seconds(60))
        #expect(await test.load()?.error == nil)
        #expect(test.sent == ["Bearer access-2", "Bearer other", "Bearer access-3"])
        test.expectNoViolation()
    }

    // OL-22, 1.11: 401 on a valid token
    @Test func `an authoriser refreshes when the server has revoked the token`() async {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.provider.expireAccessTokens()
        #expect(await test.load()?.error == nil)
        #expect(test.sent == ["Bearer access-2", "Bearer access-2", "Bearer access-3"])
        test.expectNoViolation()
    }

    @Test func `an authoriser refreshes once for a thousand refusals`() async {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.provider.expireAccessTokens()
        test.perform(1_000)
        #expect(await test.ends(1_001).allSatisfy { $0?.error == nil })
        #expect(test.provider.asked("refresh_token") == 1)
        test.expectNoViolation()
    }

    // OM-09, 1.11: refresh refused
    @Test
    func `an authoriser deletes credentials whose refresh is refused`() async throws {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.provider.answerNextTokenQuestion(with: .refuse("invalid_grant"))
        test.clock.advance(by: .seconds(3_600))
        test.perform(10)
        let ends = await test.ends(11).dropFirst()
        #expect(
            ends.allSatisfy {
                $0?.error?.underlyingError as? AuthorisationError == .refused(code: "invalid_grant")
            })
        #expect(try await test.store.load() == nil)
        test.clock.advance(by: .seconds(2))
        test.perform()
        await test.consent(1)
        #expect(await test.ends(12).last??.error == nil)
    }

    @Test func `an authoriser that was told so logs in at once when a refresh is refused`() async {
        let test = OAuthBed { configuration, _ in configuration.startsOverAfterRefusal = true }
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.provider.answerNextTokenQuestion(with: .refuse("invalid_grant"))
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        await test.consent(1)
        #expect(await test.ends(2).last??.error == nil)
    }

    // OM-08, 1.11: refresh network failure
    @Test(arguments: [503, 429, 200])
    func `an authoriser keeps the refresh token when the server fails`(status: Int) async throws {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.provider.answerNextTokenQuestion(with: .init(status: status))
        // Twice more where it may be asked again.
        if status == 429 {
            for _ in 0..<2 { test.provider.answerNextTokenQuestion(with: .init(status: status)) }
        }
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        // Only the pauses of the request for a token: the fetch has 30 seconds.
        await eventually {
            test.bed.passPause(within: .seconds(9))
            return test.delegate.events.filter(\.isTerminal).count == 2
        }
        #expect(await test.ends(2)[1]?.error?.underlyingError is AuthorisationError)
        #expect(try await test.store.load()?.refreshToken == "refresh-2")
        test.clock.advance(by: .seconds(30))
        #expect(await test.load()?.error == nil)
        #expect(test.person.asked.elements.count == 1)
        test.expectNoViolation()
    }

    // RFC 6749 section 4.4
    @Test func `client credentials bring a token without a login`() async {
        let test = OAuthBed(.clientCredentials) { configuration, _ in
            configuration.clientAuthentication = .basic(secret: "s+cret")
        }
        #expect(await test.load()?.error == nil)
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        #expect(test.provider.asked("client_credentials") == 2)
        test.expectNoViolation()
    }

    @Test func `an authoriser names an invalid client, and deletes nothing for it`() async throws {
        let test = OAuthBed(.clientCredentials) { configuration, _ in
            configuration.clientAuthentication = .basic(secret: "wrong")
        }
        let end = await test.load()
        #expect(
            end?.error?.underlyingError as? AuthorisationError == .refused(code: "invalid_client"))
    }

    @Test func `client credentials without a secret are refused`() async {
        let test = OAuthBed(.clientCredentials)
        let reason = "client credentials without a secret"
        #expect(
            await test.load()?.error?.underlyingError as? AuthorisationError
                == .invalidConfiguration(reason: reason))
        #expect(test.bed.transport.attempts.isEmpty)
    }

    // OL-21
    @Test func `a load fails after five tokens that come expired`() async {
        let test = OAuthBed(.clientCredentials, lifetime: .zero) { configuration, _ in
            configuration.clientAuthentication = .basic(secret: "s+cret")
        }
        let end = await test.load()
        #expect(end?.error?.underlyingError as? AuthorisationError == .tooManyRefreshes)
        #expect(test.provider.asked("client_credentials") == 5)
        #expect(test.sent.isEmpty)
    }

    // FAULTS 43
    @Test(arguments: [-315_360_000, -3_600, 3_600, 315_360_000])
    func `an authoriser does not depend on the wall clock`(seconds: Int) async {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        test.clock.setDate(test.clock.date.addingTimeInterval(Double(seconds)))
        #expect(await test.load()?.error == nil)
        #expect(test.provider.asked("refresh_token") == 0)
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        #expect(test.provider.asked("refresh_token") == 1)
        test.expectNoViolation()
    }
}
