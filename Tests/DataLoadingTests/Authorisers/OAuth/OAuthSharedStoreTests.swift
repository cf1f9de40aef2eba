// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Two programs that share a store, without the processes.
@Suite struct OAuthSharedStoreTests {
    private let store = MemoryCredentialStore()

    private func program() -> OAuthBed {
        OAuthBed(.clientCredentials, store: store) { configuration, _ in
            configuration.clientAuthentication = .basic(secret: "s+cret")
        }
    }

    @Test func `the second one finds the token that the first has got for itself`() async throws {
        let first = program()
        let second = program()
        #expect(await first.load()?.error == nil)
        let token = try #require(await store.load()?.accessToken)
        second.perform()
        _ = await second.ends(1)
        #expect(second.sent.first == "Bearer " + token)
        #expect(second.provider.asked("client_credentials") <= 1)
        #expect(first.provider.asked("client_credentials") == 1)
    }

    @Test func `a refused token is replaced by what the other one has kept, without a question`()
        async throws
    {
        let test = program()
        #expect(await test.load()?.error == nil)
        test.provider.expireAccessTokens()
        // What another program has got meanwhile.
        let newer = test.provider.issue(family: nil, withRefresh: false)
        let credentials = try TokenAnswer.credentials(
            DataLoaderResponse(request: .make(), statusCode: .ok, body: newer.json),
            previous: nil, received: test.clock.date)
        await store.save(credentials)
        #expect(await test.load()?.error == nil)
        #expect(test.sent.last == "Bearer " + credentials.accessToken)
        #expect(test.provider.asked("client_credentials") == 1)
        test.expectNoViolation()
    }

    @Test func `a token that the server issues a second time is kept with its new lifetime`()
        async throws
    {
        let test = program()
        let answer = StrictProvider.Answer(fields: [
            "access_token": .string("same"), "token_type": .string("Bearer"),
            "expires_in": .number(3_600),
        ])
        test.provider.state.withLock { $0.accessTokens["same"] = (1, .distantFuture) }
        test.provider.answerNextTokenQuestion(with: answer)
        #expect(await test.load()?.error == nil)
        let first = try #require(await store.load())
        test.clock.advance(by: .seconds(3_600))
        test.provider.answerNextTokenQuestion(with: answer)
        #expect(await test.load()?.error == nil)
        let second = try #require(await store.load())
        #expect(second.hasTokens(of: first))
        #expect(second.received.timeIntervalSince(first.received) >= 3_600)
    }

    @Test func `what the other one has kept is not taken when it has expired`() async throws {
        let test = program()
        #expect(await test.load()?.error == nil)
        test.provider.expireAccessTokens()
        await store.save(
            OAuthCredentials(
                accessToken: "old", lifetime: .seconds(10),
                received: test.clock.date.addingTimeInterval(-11)))
        #expect(await test.load()?.error == nil)
        #expect(test.provider.asked("client_credentials") == 2)
        test.expectNoViolation()
    }
}
