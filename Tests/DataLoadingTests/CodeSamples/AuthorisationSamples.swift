// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

// The samples about authorisation, in the article and on declarations.

private struct Reply: Sendable {
    let token = "1"
    let expiresIn = 60
}

private func logIn() async throws -> Reply { Reply() }

private func sign(_ request: DataLoaderRequest) async throws -> String { request.method.rawValue }

final class Signer: AsyncAuthoriser {
    let identifier = "signer"
    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { true }
    func authorised(_ request: DataLoaderRequest) async throws -> DataLoaderRequest {
        var signed = request
        signed.headers["X-Signature"] = try await sign(request)
        return signed
    }
}

extension Signer {
    func reset() async {}
}

@Suite struct AuthorisationSamples {
    private let request = DataLoaderRequest(url: testURL("https://api.example.com/x"))

    @Test func `fetches a token`() {
        let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
            let reply = try await logIn()
            return AccessToken(reply.token, lifetime: .seconds(reply.expiresIn))
        }
        #expect(authoriser.requiresAuthorisation(request))
    }

    @Test func `signs in one function`() async throws {
        #expect(try await Signer().authorised(request).headers["X-Signature"] == "GET")
    }

    @Test func `carries a request's own credentials`() throws {
        let secret = "lovelace"
        var request = DataLoaderRequest(url: testURL("https://api.example.com"))
        let credentials = try BasicCredentials(username: "ada", password: secret)
        request[option: BasicCredentials.self] = credentials
        #expect(request[option: BasicCredentials.self]?.username == "ada")
    }

    @Test func `names its methods`() throws {
        let service = DataLoaderService()
        let basic = BasicAuthoriser(hosts: ["a.example.com"])
        let token = StaticTokenAuthoriser(token: "t", hosts: ["b.example.com"])
        var request = DataLoaderRequest(url: testURL("https://b.example.com"))
        let composite = CompositeAuthoriser([.basic: basic, .bearer: token])
        let factory = service.makeFactory(authorisers: [composite])
        request[option: AuthenticationMethod.self] = [.bearer]
        #expect(!factory.isOffline && composite.requiresAuthorisation(request))
        let partner = AuthenticationMethod(rawValue: "partner")
        request[option: AuthenticationMethod.self] = [partner]
        #expect(request[option: AuthenticationMethod.self] == [partner])
    }

    @Test func `logs in with OAuth`() throws {
        let service = DataLoaderService()
        let issuer = testURL("https://auth.example.com")
        let file = testURL("file:///var/lib/feed-daemon/credentials.json")
        let console: (any OAuthDelegate)? = nil
        let configuration = OAuthConfiguration(
            server: .issuer(issuer), flow: .deviceCode, clientIdentifier: "feed-daemon",
            hosts: ["api.example.com"])
        let authoriser = OAuthAuthoriser(
            configuration, service: service, store: FileCredentialStore(file: file),
            delegate: console)
        #expect(
            authoriser.requiresAuthorisation(
                DataLoaderRequest(url: testURL("https://api.example.com"))))
    }

    @Test func `catches a redirect`() throws {
        let receiver = try LoopbackRedirectReceiver()
        let flow = OAuthConfiguration.Flow.authorizationCode(redirect: receiver.redirectURL)
        #expect(flow != .deviceCode)
    }
}
