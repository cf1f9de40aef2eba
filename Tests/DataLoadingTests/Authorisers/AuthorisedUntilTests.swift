// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What brings a credential with a known end says until when it is good.
@Suite struct AuthorisedUntilTests {
    private let clock = ManualClock()
    private let request = DataLoaderRequest.make(host: "https://origin.test")

    private func token(_ lifetime: Duration?) -> TokenAuthoriser {
        TokenAuthoriser(
            hosts: ["origin.test"], clock: clock, apply: { $1.headers["X-Token"] = $0.value },
            fetch: { _ in AccessToken("t", lifetime: lifetime) })
    }

    @Test(arguments: [600, nil])
    func `a token authoriser says until when its token lasts`(seconds: Int?) async throws {
        let authoriser = token(seconds.map { .seconds($0) })
        let begin = clock.instant
        for _ in 0..<2 {
            let authorised = try await authoriser.answer(to: request)
            #expect(authorised.headers["X-Token"] == "t")
            #expect(
                authorised[option: AuthorisedUntil.self] == seconds.map { begin + .seconds($0) })
            clock.advance(by: .seconds(1))
        }
    }

    @Test func `the earliest end counts when several authorisers take part`() async throws {
        var request = request
        for lifetime in [900, nil, 300, 600] as [Int?] {
            let authoriser = token(lifetime.map { .seconds($0) })
            request = try await authoriser.answer(to: request)
        }
        #expect(request[option: AuthorisedUntil.self] == clock.instant + .seconds(300))
    }

    @Test func `an OAuth authoriser says until when its token lasts, and a Basic one nothing`()
        async throws
    {
        let bed = TestBed(clock: clock)
        var stored = OAuthCredentials(accessToken: "t", received: clock.date)
        stored.lifetime = .seconds(500)
        let oauth = OAuthAuthoriser(
            OAuthConfiguration(
                server: .endpoints(OAuthEndpoints(token: testURL("https://auth.test/token"))),
                flow: .deviceCode, clientIdentifier: "client", hosts: ["origin.test"]),
            service: bed.service, store: MemoryCredentialStore(stored))
        let authorised = try await oauth.answer(to: request)
        #expect(authorised[option: AuthorisedUntil.self] == clock.instant + .seconds(500))
        let basic = BasicAuthoriser(
            hosts: ["origin.test"],
            credentials: try BasicCredentials(username: "ada", password: "pw"))
        let named = try await basic.answer(to: request)
        #expect(named.headers.contains("Authorization"))
        #expect(named[option: AuthorisedUntil.self] == nil)
    }
}
