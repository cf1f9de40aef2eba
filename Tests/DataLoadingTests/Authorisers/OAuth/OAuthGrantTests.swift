// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Grants, assertions and parameters that a program brings.
@Suite struct OAuthGrantTests {
    private static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// A program that speaks for itself by the given means.
    private func program(
        _ flow: OAuthConfiguration.Flow = .clientCredentials,
        _ authentication: OAuthConfiguration.ClientAuthentication = .basic(secret: "s+cret"),
        _ configure: (inout OAuthConfiguration) -> Void = { _ in }
    ) -> OAuthBed {
        OAuthBed(flow) { configuration, _ in
            configuration.clientAuthentication = authentication
            configure(&configuration)
        }
    }

    private func forms(_ test: OAuthBed, _ path: String = "/token") -> [[String: String]] {
        test.provider.state.withLock { state in
            state.questions.filter { $0.path == path }.map(\.form)
        }
    }

    private func failure(_ test: OAuthBed) async -> AuthorisationError? {
        await test.load()?.error?.underlyingError as? AuthorisationError
    }

    // MARK: Client assertions

    // RFC 7523 section 2.2
    @Test func `each request for a token has an assertion of its own, for the token endpoint`()
        async
    {
        let audiences = EventRecorder<URL>()
        let test = program(
            .clientCredentials,
            .assertion { url in
                audiences.record(url)
                return "assertion-\(audiences.elements.count)"
            })
        #expect(await test.load()?.error == nil)
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        let expected = (1...2).map { number in
            [
                "grant_type": "client_credentials", "client_id": "client",
                "client_assertion_type": type, "client_assertion": "assertion-\(number)",
            ]
        }
        #expect(forms(test) == expected)
        #expect(
            audiences.elements == [test.provider.endpoints.token, test.provider.endpoints.token])
        test.expectNoViolation()
    }

    @Test func `a revocation has an assertion too`() async {
        let test = OAuthBed { configuration, _ in
            configuration.clientAuthentication = .assertion { _ in "assertion" }
        }
        await test.logIn()
        await test.factory.reset()
        let revocations = forms(test, "/revoke")
        #expect(revocations.count == 2)
        #expect(revocations.allSatisfy { $0["client_assertion"] == "assertion" })
    }

    @Test func `a load ends with what an assertion throws, and nothing is sent`() async {
        let test = program(.clientCredentials, .assertion { _ in throw TestFailure() })
        #expect(await test.load()?.error?.underlyingError is TestFailure)
        #expect(test.bed.transport.attempts.isEmpty)
    }

    @Test func `an assertion that does not come is given up after ten seconds`() async {
        let asked = EventRecorder<Void>()
        let held = EventRecorder<Void>()
        let test = program(
            .clientCredentials,
            .assertion { _ in
                asked.record(())
                _ = await held.first(1)
                return "late"
            })
        test.perform()
        _ = await asked.first(1)
        test.clock.advance(by: .seconds(10))
        #expect(await test.ends(1)[0]?.error?.underlyingError as? AuthorisationError == .timedOut)
        held.record(())
    }

    // MARK: Grants of the program's own

    @Test func `a grant of the program's own is sent for each token, with its scope`() async {
        let count = Locked(0)
        let flow = OAuthConfiguration.Flow.grant { _ in
            let number = count.withLock {
                $0 += 1; return $0
            }
            return [("grant_type", Self.jwtBearer), ("assertion", "signed-\(number)")]
        }
        let test = program(flow) { $0.scopes = ["read"] }
        for _ in 1...2 {
            test.provider.answerNextTokenQuestion(
                with: test.provider.issue(family: nil, withRefresh: false))
            #expect(await test.load()?.error == nil)
            test.clock.advance(by: .seconds(3_600))
        }
        let expected = (1...2).map { number in
            ["grant_type": Self.jwtBearer, "assertion": "signed-\(number)", "scope": "read"]
        }
        #expect(forms(test) == expected)
        #expect(test.person.asked.elements.isEmpty)
    }

    @Test func `a program without a client identifier sends none`() async {
        let test = program(.grant { _ in [("grant_type", Self.jwtBearer)] }, .none) {
            $0.clientIdentifier = ""
        }
        _ = await test.load()
        #expect(forms(test) == [["grant_type": Self.jwtBearer]])
    }

    @Test func `a grant without a type and one that names the client again are refused`() async {
        #expect(
            await failure(program(.grant { _ in [("assertion", "signed")] }))
                == .invalidConfiguration(reason: "a grant without grant_type"))
        let twice = program(
            .grant { _ in [("grant_type", Self.jwtBearer), ("client_id", "x")] }, .none)
        #expect(
            await failure(twice)
                == .invalidConfiguration(reason: "the parameter client_id is set twice"))
    }

    // RFC 6749 section 3.1
    @Test func `a grant that names a scope beside that of the configuration is refused`() async {
        let flow = OAuthConfiguration.Flow.grant { _ in
            [("grant_type", Self.jwtBearer), ("scope", "write")]
        }
        let test = program(flow) { $0.scopes = ["read"] }
        #expect(
            await failure(test)
                == .invalidConfiguration(reason: "the parameter scope is set twice"))
        #expect(test.bed.transport.attempts.isEmpty)
        // Without scopes in the configuration, a grant has its own.
        let own = program(flow)
        _ = await own.load()
        #expect(forms(own) == [["grant_type": Self.jwtBearer, "scope": "write"]])
    }

    @Test func `a token of a grant that another program has kept is used without a grant`() async {
        let asked = EventRecorder<Void>()
        let flow = OAuthConfiguration.Flow.grant { _ in
            asked.record(())
            return [("grant_type", Self.jwtBearer)]
        }
        let credentials = OAuthCredentials(
            accessToken: "kept", received: Date(timeIntervalSince1970: 1_767_225_600))
        let test = OAuthBed(flow, store: MemoryCredentialStore(credentials)) { _, provider in
            provider.state.withLock { $0.accessTokens["kept"] = (1, .distantFuture) }
        }
        #expect(await test.load()?.error == nil)
        #expect(asked.elements.isEmpty)
    }

    // MARK: Parameters

    // RFC 8707 section 2: `resource` may occur several times.
    @Test func `further parameters are sent with each request for a token`() async {
        let test = program { configuration in
            configuration.tokenParameters = [("audience", "https://api.test/ é")]
        }
        #expect(await test.load()?.error == nil)
        #expect(
            forms(test) == [
                ["grant_type": "client_credentials", "audience": "https://api.test/ é"]
            ])
        #expect(
            String(
                decoding: FormEncoding.encode(
                    (try? [("a", "1")].adding([("resource", "x"), ("resource", "y")])) ?? []),
                as: UTF8.self) == "a=1&resource=x&resource=y")
    }

    @Test func `further parameters of a login are on its page, and those of tokens are not`()
        async throws
    {
        let test = OAuthBed { configuration, _ in
            configuration.loginParameters = [("access_type", "offline")]
            configuration.tokenParameters = [("resource", "https://api.test")]
        }
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        let page = try #require(test.person.asked.elements.first).absoluteString
        #expect(page.contains("access_type=offline"))
        #expect(!page.contains("resource="))
        #expect(forms(test).count == 2)
        #expect(forms(test).allSatisfy { $0["resource"] == "https://api.test" })
        #expect(forms(test).allSatisfy { $0["access_type"] == nil })
        test.expectNoViolation()
    }

    @Test(arguments: ["grant_type", "client_id", "client_secret"])
    func `a parameter that the authoriser sets itself ends a load, and is not sent`(
        name: String
    ) async {
        let test = program(.clientCredentials, .form(secret: "s+cret")) {
            $0.tokenParameters = [(name, "canary")]
        }
        #expect(
            await failure(test)
                == .invalidConfiguration(reason: "the parameter \(name) is set twice"))
        #expect(test.bed.transport.attempts.isEmpty)
    }

    @Test func `a parameter of a login's page cannot replace its state`() async {
        let test = OAuthBed { configuration, _ in
            configuration.loginParameters = [("state", "canary")]
        }
        #expect(
            await failure(test) == .invalidConfiguration(reason: "the parameter state is set twice")
        )
        #expect(test.person.asked.elements.isEmpty)
    }

    @Test func `a configuration prints no parameter and no assertion`() {
        var configuration = OAuthConfiguration(
            server: .issuer(testURL("https://auth.test")),
            flow: .grant { _ in [("assertion", "canary")] }, clientIdentifier: "client",
            hosts: ["origin.test"])
        configuration.clientAuthentication = .assertion { _ in "canary" }
        configuration.tokenParameters = [("audience", "canary")]
        configuration.loginParameters = [("hint", "canary")]
        var text = "\(configuration) \(configuration.clientAuthentication) \(configuration.flow)"
        dump(configuration, to: &text)
        #expect(!text.contains("canary"))
        #expect("\(configuration.clientAuthentication)" == "assertion")
    }
}
