// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
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
    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        request.url.scheme == "https" && request.url.host() == "api.example.com"
    }
    func authorised(_ request: DataLoaderRequest) async throws -> DataLoaderRequest {
        var signed = request
        signed.headers["X-Signature"] = try await sign(request)
        return signed
    }
    func reset() async {}
}

final class BrowserLogin: OAuthDelegate {
    let receiver: LoopbackRedirectReceiver

    init(receiver: LoopbackRedirectReceiver) {
        self.receiver = receiver
    }

    func logIn(at url: URL) async throws -> URL? {
        print("Open \(url)")
        return try await receiver.redirect(from: url)
    }
}

final class Console: OAuthDelegate {
    func show(_ code: DeviceCode) async {
        print("Open \(code.verificationURL) and enter \(code.userCode)")
    }
}

extension DataLoaderService.Configuration {
    /// No server is the right one.
    fileprivate static var failing: Self {
        var configuration = Self()
        configuration.transport = ScriptedTransport(otherwise: .fail(.pin))
        return configuration
    }
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

    @Test func `adds a key in a field of its own`() {
        let key = "k"
        let keyed = StaticTokenAuthoriser(token: key, hosts: ["maps.example.com"]) {
            $1.headers["X-Api-Key"] = $0.value
        }
        #expect(
            keyed.requiresAuthorisation(
                DataLoaderRequest(url: testURL("https://maps.example.com"))))
    }

    @Test func `logs in with OAuth`() async throws {
        let service = DataLoaderService(configuration: .failing, clock: ManualClock())
        let issuer = testURL("https://auth.example.com")
        let directory = TemporaryDirectory()
        let file = directory.url("credentials.json")
        func perform() async throws {
            let console = Console()
            let configuration = OAuthConfiguration(
                server: .issuer(issuer), flow: .deviceCode, clientIdentifier: "feeds",
                hosts: ["api.example.com"])
            let authoriser = OAuthAuthoriser(
                configuration, service: service, store: FileCredentialStore(file: file),
                delegate: console)
            try await authoriser.logIn()
        }
        await #expect(throws: AuthorisationError.load(.pin)) { try await perform() }
    }

    @Test func `speaks for itself`() async throws {
        let service = DataLoaderService(configuration: .failing, clock: ManualClock())
        let issuer = testURL("https://auth.example.com")
        let secret = "s"
        var configuration = OAuthConfiguration(
            server: .issuer(issuer), flow: .clientCredentials, clientIdentifier: "feed-daemon",
            hosts: ["api.example.com"])
        configuration.clientAuthentication = .basic(secret: secret)
        configuration.scopes = ["feeds.read"]
        let authoriser = OAuthAuthoriser(configuration, service: service)
        await #expect(throws: AuthorisationError.load(.pin)) { try await authoriser.logIn() }
    }

    @Test func `tests an authoriser on a manual clock`() async throws {
        let clock = ManualClock()
        let fetches = EventRecorder<AccessToken?>()
        let authoriser = TokenAuthoriser(hosts: ["api.example.com"], clock: clock) { previous in
            fetches.record(previous)
            return AccessToken("token \(fetches.elements.count)", lifetime: .seconds(600))
        }
        let transport = ScriptedTransport(
            otherwise: .run { attempt in
                let isOurs = attempt.request.url.host() == "api.example.com"
                let isAuthorised = attempt.request.headers["Authorization"] != nil
                attempt.respond(status: isOurs == isAuthorised ? 200 : 401)
            })
        var configuration = DataLoaderService.Configuration()
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        for host in ["api.example.com", "other.example.com"] {
            let request = DataLoaderRequest(url: testURL("https://\(host)/"))
            #expect(try await loader.response(for: request).statusCode == .ok)
        }
        clock.advance(by: .seconds(600))
        _ = try await loader.response(for: request)
        #expect(fetches.elements == [nil, AccessToken("token 1", lifetime: .seconds(600))])
    }

    @Test func `catches a redirect`() throws {
        let receiver = try LoopbackRedirectReceiver()
        let flow = OAuthConfiguration.Flow.authorizationCode(redirect: receiver.redirectURL)
        #expect(flow != .deviceCode)
    }
}
