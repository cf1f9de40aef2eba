// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

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
