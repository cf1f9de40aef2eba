// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// `OAuthAuthoriser.logIn()`: a login that no load waits for.
@Suite struct OAuthLogInCallTests {
    @Test func `a login returns when the person has consented, and loads use the token`()
        async throws
    {
        let test = OAuthBed()
        let logIn = Task { try await test.authoriser.logIn() }
        await test.consent()
        try await logIn.value
        #expect(await test.load()?.error == nil)
        #expect(test.person.asked.elements.count == 1)
        test.expectNoViolation()
    }

    @Test func `a login returns at once when there are credentials`() async throws {
        let test = OAuthBed()
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        try await test.authoriser.logIn()
        #expect(test.person.asked.elements.count == 1)
    }

    @Test func `a login that the person refuses throws`() async {
        let test = OAuthBed()
        let logIn = Task { try await test.authoriser.logIn() }
        await test.person.pages.call(0).answer(nil)
        await #expect(throws: AuthorisationError.noCredentials) { try await logIn.value }
    }

    @Test func `a cancelled task stops waiting, and the login continues`() async throws {
        let test = OAuthBed()
        let task = Task { try await test.authoriser.logIn() }
        _ = await test.person.asked.first(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await test.consent()
        #expect(await test.load()?.error == nil)
        #expect(test.person.asked.elements.count == 1)
    }

    @Test func `a reset ends it`() async {
        let test = OAuthBed()
        let logIn = Task { try await test.authoriser.logIn() }
        _ = await test.person.asked.first(1)
        async let reset: Void = test.authoriser.reset()
        await #expect(throws: AuthorisationError.reset) { try await logIn.value }
        await test.person.pages.call(0).answer(nil)
        await reset
    }

    @Test func `a login without a delegate throws`() async {
        let test = OAuthBed()
        let authoriser = OAuthAuthoriser(
            OAuthConfiguration(
                server: .endpoints(test.provider.endpoints), flow: .deviceCode,
                clientIdentifier: "client", hosts: ["origin.test"]),
            service: test.bed.service)
        let error = AuthorisationError.invalidConfiguration(reason: "no delegate is there")
        await #expect(throws: error) { try await authoriser.logIn() }
    }
}
