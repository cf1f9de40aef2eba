// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// OI-01; OI-02 is met by `Authoriser`: another library is wrapped in one.
@Suite struct OpenIDTests {
    private func discovering(
        _ issuer: String = "https://auth.test"
    ) -> OAuthBed {
        OAuthBed(.clientCredentials) { configuration, _ in
            configuration.server = .issuer(testURL(issuer))
            configuration.clientAuthentication = .form(secret: "s")
        }
    }

    @Test func `OpenID fetches its document once and uses its endpoints`() async {
        let test = discovering()
        #expect(await test.load()?.error == nil)
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        let paths = test.provider.state.withLock { $0.questions.map(\.path) }
        #expect(paths == ["/.well-known/openid-configuration", "/token", "/token"])
        test.expectNoViolation()
    }

    @Test func `loads that wait fail without a document, and OpenID asks again for the next one`()
        async
    {
        let test = discovering("https://auth.test/tenant")
        let end = await test.load()
        #expect(end?.error?.underlyingError as? AuthorisationError == .load(.status(.notFound)))
        let paths = test.provider.state.withLock { $0.questions.map(\.path) }
        #expect(
            paths == [
                "/tenant/.well-known/openid-configuration",
                "/.well-known/oauth-authorization-server/tenant",
            ])
        test.clock.advance(by: .seconds(60))
        _ = await test.load()
        #expect(test.provider.state.withLock { $0.questions.count } == 4)
    }

    @Test
    func `OpenID fetches its document again after a day, and keeps the old one if that fails`()
        async
    {
        let test = discovering()
        #expect(await test.load()?.error == nil)
        test.clock.advance(by: .seconds(86_400))
        test.bed.transport.then(.respond(status: 400))
        #expect(await test.load()?.error == nil)
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        test.clock.advance(by: .seconds(82_800))
        #expect(await test.load()?.error == nil)
        let paths = test.bed.transport.attempts.map(\.request.url.path)
        let document = "/.well-known/openid-configuration"
        #expect(
            paths.filter { $0.hasPrefix("/.well") || $0 == "/token" } == [
                document, "/token", document, "/token", document, "/token", "/token",
            ])
        test.expectNoViolation()
    }

    // RFC 8414 section 3.1: without the slash at the end.
    @Test func `OpenID looks for the document of an issuer with a slash at its right place`() async
    {
        let test = discovering("https://auth.test/tenant/")
        _ = await test.load()
        #expect(
            test.bed.transport.attempts.map(\.request.url.absoluteString) == [
                "https://auth.test/tenant/.well-known/openid-configuration",
                "https://auth.test/.well-known/oauth-authorization-server/tenant",
            ])
    }

    // OpenID Connect Discovery 1.0 section 4.3, RFC 8414 section 3.3
    @Test func `OpenID refuses a document of another issuer, or one that lacks a required member`()
        throws
    {
        let issuer = testURL("https://auth.test")
        let whole: [String: JSONValue] = [
            "issuer": .string("https://auth.test"),
            "token_endpoint": .string("https://auth.test/token"),
            "authorization_response_iss_parameter_supported": .bool(true),
        ]
        let read = try ProviderDocument.endpoints(in: whole, of: issuer)
        #expect(read.token == testURL("https://auth.test/token"))
        #expect(read.alwaysNamesIssuer)
        var sparse = whole
        sparse["revocation_endpoint"] = .null
        #expect(try ProviderDocument.endpoints(in: sparse, of: issuer).revocation == nil)
        let broken: [(String, JSONValue?)] = [
            ("issuer", nil), ("issuer", .string("https://auth.test/")), ("issuer", .number(1)),
            ("issuer", .string("https://AUTH.test")), ("token_endpoint", nil),
            ("token_endpoint", .string("")), ("token_endpoint", .string("file:///etc/passwd")),
            ("token_endpoint", .bool(true)), ("revocation_endpoint", .string("/relative")),
        ]
        for (name, value) in broken {
            var fields = whole
            fields[name] = value
            #expect(throws: AuthorisationError.invalidAnswer(reason: name)) {
                try ProviderDocument.endpoints(in: fields, of: issuer)
            }
        }
    }

    @Test func `OpenID sends no secret over plain http`() async {
        let test = OAuthBed(.clientCredentials) { configuration, _ in
            configuration.server = .endpoints(
                OAuthEndpoints(token: testURL("http://auth.test/token")))
            configuration.clientAuthentication = .basic(secret: "s+cret")
        }
        let end = await test.load()
        #expect(
            end?.error?.underlyingError as? AuthorisationError
                == .invalidConfiguration(reason: "an endpoint without https"))
        #expect(test.bed.transport.attempts.isEmpty)
    }
}
