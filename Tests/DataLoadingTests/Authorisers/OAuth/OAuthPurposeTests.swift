// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Credentials that were issued to another client, or for another request.
@Suite struct OAuthPurposeTests {
    private typealias Change = @Sendable (inout OAuthConfiguration) -> Void

    private static let changes: [String: Change] = [
        "scope": { $0.scopes = ["read", "write"] },
        "parameter": { $0.tokenParameters = [("audience", "https://other.test")] },
        "parameter of the login": { $0.loginParameters = [("access_type", "offline")] },
    ]

    /// A bed whose provider accepts what `other` was given.
    private func bed(
        sharing other: OAuthBed, _ change: Change = { _ in }
    ) -> OAuthBed {
        let tokens = other.provider.state.withLock { $0.accessTokens }
        return OAuthBed(store: other.store) { configuration, provider in
            configuration.scopes = ["read"]
            change(&configuration)
            provider.state.withLock { $0.accessTokens = tokens }
        }
    }

    private func first() async -> OAuthBed {
        let test = OAuthBed { configuration, _ in configuration.scopes = ["read"] }
        await test.logIn()
        return test
    }

    @Test(arguments: changes.keys.sorted())
    func `credentials that were requested otherwise are not used, and a login replaces them`(
        name: String
    ) async throws {
        let change = try #require(Self.changes[name])
        let first = await first()
        let old = try #require(try await first.store.load())
        let second = bed(sharing: first, change)
        second.perform()
        await second.consent()
        #expect(await second.ends(1)[0]?.error == nil)
        #expect(second.provider.asked("authorization_code") == 1)
        #expect(try await first.store.load()?.request != old.request)
    }

    @Test func `credentials that were requested in the same way are used after a restart`() async {
        let first = await first()
        let second = bed(sharing: first)
        #expect(await second.load()?.error == nil)
        #expect(second.person.asked.elements.isEmpty)
        #expect(second.sent == first.sent)
    }

    @Test func `the order of scopes makes no other request`() {
        let endpoints = OAuthEndpoints(token: testURL("https://auth.test/token"))
        var configuration = OAuthConfiguration(
            server: .endpoints(endpoints), flow: .deviceCode, clientIdentifier: "client",
            hosts: ["origin.test"])
        configuration.scopes = ["a", "b"]
        var credentials = OAuthCredentials(accessToken: "a", received: Date())
        #expect(configuration.purpose.covers(credentials))
        configuration.purpose.mark(&credentials)
        configuration.scopes = ["b", "a"]
        #expect(configuration.purpose.covers(credentials))
        configuration.scopes = ["a b c"]
        #expect(!configuration.purpose.covers(credentials))
        configuration.clientIdentifier = "another"
        #expect(!configuration.purpose.hasIssuer(of: credentials))
    }

    @Test func `another client's credentials are neither used, nor deleted, nor revoked`()
        async throws
    {
        let first = await first()
        let stored = try await first.store.load()
        let second = bed(sharing: first) { $0.clientIdentifier = "another" }
        second.perform()
        await second.untilAsked(1, orEnded: 1)
        #expect(second.sent.isEmpty)
        await second.person.pages.call(0).answer(nil)
        await second.factory.reset()
        #expect(second.provider.state.withLock { $0.revoked } == [])
        #expect(try await first.store.load() == stored)
    }

    private static let foreign = OAuthCredentials(
        accessToken: "foreign-a", refreshToken: "foreign-r",
        received: Date(timeIntervalSince1970: 1_767_225_600), client: "another")
    private static let isTaken = AuthorisationError.store(
        reason: "has another server's or client's tokens")

    @Test
    func `a login leaves another client's credentials, and stores its own once they are gone`()
        async throws
    {
        let store = MemoryCredentialStore(Self.foreign)
        let test = OAuthBed(store: store)
        await test.logIn()
        #expect(test.sent == ["Bearer access-2"])
        #expect(await store.load() == Self.foreign)
        #expect(test.person.complaints.elements as? [AuthorisationError] == [Self.isTaken])
        // Retries are not reported.
        await test.clock.waitForAlarms(1, within: .seconds(1))
        test.clock.advance(by: .seconds(1))
        #expect(await test.load()?.error == nil)
        #expect(await store.load() == Self.foreign)
        await store.save(nil)
        while await store.load()?.accessToken != "access-2" {
            await Task.yield()
            test.clock.advance(by: .seconds(1))
        }
        #expect(test.person.complaints.elements.count == 1)
        test.expectNoViolation()
    }

    @Test func `a refresh leaves another client's credentials`() async throws {
        let store = MemoryCredentialStore(Self.foreign)
        let test = OAuthBed(store: store)
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        #expect(test.sent == ["Bearer access-2", "Bearer access-3"])
        #expect(await store.load() == Self.foreign)
        test.expectNoViolation()
    }

    @Test func `a program's own token leaves another client's credentials`() async throws {
        let store = MemoryCredentialStore(Self.foreign)
        let test = OAuthBed(.clientCredentials, store: store) { configuration, _ in
            configuration.clientAuthentication = .basic(secret: "s+cret")
        }
        #expect(await test.load()?.error == nil)
        #expect(await store.load() == Self.foreign)
        #expect(test.person.complaints.elements as? [AuthorisationError] == [Self.isTaken])
    }

    @Test func `a log out deletes and revokes what the same client has requested otherwise`()
        async throws
    {
        let first = await first()
        let second = bed(sharing: first) { $0.scopes = ["read", "write"] }
        await second.factory.reset()
        #expect(try await first.store.load() == nil)
        #expect(second.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
    }
}
