// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoading
import DataLoadingRedirectReceiver
import DataLoadingTesting
import Foundation
import Testing

// The samples about authorisation in the article and in doc comments.

private struct Reply: Sendable {
    let token = "1"
    let expiresIn = 60
}

private func logIn() async throws -> Reply { Reply() }

private func signedAssertion(for audience: URL) async throws -> String {
    audience.absoluteString
}

private func sign(_ request: DataLoaderRequest) async throws -> String { request.method.rawValue }

final class Signer: Authoriser {
    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard request.url.scheme == "https", request.url.host == "api.example.com",
            request.url.port ?? 443 == 443
        else { return .unchanged }
        return .later {
            var signed = request
            signed.headers["X-Signature"] = try await sign(request)
            return signed
        }
    }
}

/// As an application of SPTDataLoader has one.
private final class Session: Sendable {
    func withToken(_ body: @escaping @Sendable (String) -> Void) { body("1") }
}

private func askForPassword(insteadOf refused: BasicCredentials?) async throws -> BasicCredentials?
{
    refused
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
    /// A service that accepts no server's key.
    fileprivate static var failing: Self {
        var configuration = Self()
        configuration.transport = ScriptedTransport(otherwise: .fail(.pin))
        return configuration
    }
}

@Suite struct AuthorisationSamples {
    private let request = DataLoaderRequest(url: testURL("https://api.example.com/x"))

    @Test func `the sample of a token authoriser compiles and applies to its host`() {
        let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
            let reply = try await logIn()
            return AccessToken(reply.token, lifetime: .seconds(reply.expiresIn))
        }
        #expect(authoriser.takesPart(in: request))
    }

    @Test func `the sample of an authoriser that answers later signs nothing for another port`() {
        let other = DataLoaderRequest(url: testURL("https://api.example.com:8443/x"))
        guard case .unchanged = Signer().authorise(other) else {
            Issue.record("signed")
            return
        }
    }

    @Test func `the sample of an authoriser that answers later signs a request`() async throws {
        guard case .later(let body) = Signer().authorise(request) else {
            Issue.record("not signed")
            return
        }
        #expect(try await body().headers["X-Signature"] == "GET")
    }

    @Test func `the sample of Basic credentials asks for a password`() {
        let authoriser = BasicAuthoriser(hosts: ["api.example.com"]) { refused in
            try await askForPassword(insteadOf: refused)
        }
        #expect(authoriser.takesPart(in: request))
    }

    @Test func `the sample of a delegating authoriser answers its delegate`() async throws {
        let session = Session()
        let authoriser = DelegatingAuthoriser(
            identifier: "session",
            requiresAuthorisation: { request in
                request.url.scheme == "https" && request.url.host == "api.example.com"
                    && request.url.port ?? 443 == 443
            }
        ) { request, delegate in
            session.withToken { token in
                var authorised = request
                authorised.headers["Authorization"] = "Bearer " + token
                delegate.authorised(authorised)
            }
        }
        guard case .later(let body) = authoriser.authorise(request) else {
            Issue.record("not asked")
            return
        }
        #expect(try await body().headers["Authorization"] == "Bearer 1")
    }

    @Test func `the sample of a request's own credentials sets them as an option`() throws {
        let secret = "lovelace"
        var request = DataLoaderRequest(url: testURL("https://api.example.com"))
        let credentials = try BasicCredentials(username: "ada", password: secret)
        request[option: BasicCredentials.self] = credentials
        #expect(request[option: BasicCredentials.self]?.username == "ada")
    }

    @Test func `the sample of a composite authoriser chooses methods by name`() throws {
        let service = DataLoaderService()
        let secret = "t"
        var request = request
        let partner = AuthenticationMethod(rawValue: "partner")
        let token = StaticTokenAuthoriser(
            token: secret, hosts: ["api.example.com"], method: partner)
        let factory = service.makeFactory(authorisers: [token])
        request.authenticationMethods = [partner]
        #expect(!factory.isOffline && token.takesPart(in: request))
        #expect(request.authenticationMethods == [partner])
    }

    @Test func `the sample of a key in a custom field applies to its host`() {
        let key = "k"
        let keyed = StaticTokenAuthoriser(token: key, hosts: ["maps.example.com"]) {
            $1.headers["X-Api-Key"] = $0.value
        }
        #expect(
            keyed.takesPart(
                in:
                    DataLoaderRequest(url: testURL("https://maps.example.com"))))
    }

    @Test func `the sample of a device code login starts a login`() async throws {
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

    @Test func `the sample of client credentials starts a login`() async throws {
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

    @Test func `the sample of an assertion and of parameters is sent to the server`() async throws {
        let service = DataLoaderService(configuration: .failing, clock: ManualClock())
        let directory = TemporaryDirectory()
        let file = try directory.write(Data("signed".utf8), to: "token")
        let issuer = testURL("https://auth.example.com")
        var configuration = OAuthConfiguration(
            server: .issuer(issuer), flow: .clientCredentials, clientIdentifier: "feed-daemon",
            hosts: ["api.example.com"])
        configuration.clientAuthentication = .assertion { _ in
            try await AccessToken(contentsOf: file).value
        }
        configuration.tokenParameters = [("audience", "https://api.example.com")]
        let authoriser = OAuthAuthoriser(configuration, service: service)
        await #expect(throws: AuthorisationError.load(.pin)) { try await authoriser.logIn() }
    }

    @Test func `the sample of a grant makes the grant for the token endpoint`() async throws {
        let flow = OAuthConfiguration.Flow.grant { tokenEndpoint in
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("assertion", try await signedAssertion(for: tokenEndpoint)),
            ]
        }
        guard case .grant(let fields) = flow else {
            Issue.record("another flow")
            return
        }
        let endpoint = testURL("https://auth.example.com/token")
        #expect(try await fields(endpoint).last?.value == endpoint.absoluteString)
    }

    @Test func `the sample of a token in a file reads it`() async throws {
        let directory = TemporaryDirectory()
        let file = try directory.write(Data("one\n".utf8), to: "token")
        let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
            try await AccessToken(contentsOf: file)
        }
        #expect(authoriser.takesPart(in: request))
        #expect(try await AccessToken(contentsOf: file).value == "one")
    }

    @Test func `the sample of testing an authoriser renews a token on a manual clock`() async throws
    {
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

    @Test func `the sample of a loopback redirect receiver makes a redirect URL`() throws {
        let receiver = try LoopbackRedirectReceiver()
        let flow = OAuthConfiguration.Flow.authorizationCode(redirect: receiver.redirectURL)
        guard case .authorizationCode(let redirect) = flow else {
            Issue.record("another flow")
            return
        }
        #expect(redirect.host() == "127.0.0.1")
    }
}
