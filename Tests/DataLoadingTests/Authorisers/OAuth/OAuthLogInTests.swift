// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct OAuthLogInTests {
    private func ends(_ test: OAuthBed, _ expected: AuthorisationError) async {
        let end = await test.ends(1)[0]
        #expect(end?.error?.underlyingError as? AuthorisationError == expected)
        #expect(test.sent.isEmpty)
        #expect(test.provider.asked("authorization_code") == 0)
    }

    // OM-15
    @Test func `a login ends without credentials when the person gives up`() async {
        let test = OAuthBed()
        test.perform()
        await test.person.pages.call(0).answer(nil)
        await ends(test, .noCredentials)
    }

    // OM-16, OM-17, RFC 6749 section 4.1.2.1, RFC 9207
    @Test(arguments: [
        ("?code=c&state=other", AuthorisationError.invalidAnswer(reason: "state")),
        ("?code=c", .invalidAnswer(reason: "state")),
        ("?error=access_denied", .invalidAnswer(reason: "state")),
        ("?error=access_denied&state=STATE", .refused(code: "access_denied")),
        ("?error=%0D%0AX:+evil%20code&state=STATE", .refused(code: "X:evilcode")),
        ("?state=STATE", .invalidAnswer(reason: "no code")),
        ("?code=&state=STATE", .invalidAnswer(reason: "no code")),
        ("?code=a&code=b&state=STATE", .invalidAnswer(reason: "query")),
        ("?code=c&state=STATE&iss=https%3A%2F%2Fevil.test", .invalidAnswer(reason: "issuer")),
        ("", .invalidAnswer(reason: "another redirect")),
        ("/more?code=c&state=STATE", .invalidAnswer(reason: "another redirect")),
    ])
    func `a login ignores a redirect that is not its own`(
        query: String, expected: AuthorisationError
    ) async {
        let test = OAuthBed()
        test.perform()
        let page = await test.person.asked.first(1)[0]
        let state =
            page.absoluteString.split(separator: "&")
            .first { $0.hasPrefix("state=") }?.dropFirst(6) ?? ""
        let callback =
            OAuthBed.redirect.absoluteString
            + query.replacing("STATE", with: state)
        await test.person.pages.call(0).answer(testURL(callback))
        await ends(test, expected)
    }

    // RFC 6749 section 3.1.2
    @Test func `a login keeps the query of its redirect URL`() async {
        let redirect = testURL(OAuthBed.redirect.absoluteString + "?app=1")
        let test = OAuthBed(.authorizationCode(redirect: redirect))
        test.perform()
        let page = await test.person.asked.first(1)[0]
        let callback = test.provider.consent(at: page).absoluteString
        let right = callback.replacing("?code=", with: "&code=")
        await test.person.pages.call(0).answer(testURL(right))
        #expect(await test.ends(1)[0]?.error == nil)
        test.expectNoViolation()
    }

    // RFC 9207 section 2.4
    @Test func `a login requires the issuer from a server that always names it`() async {
        let test = OAuthBed { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.alwaysNamesIssuer = true
            configuration.server = .endpoints(endpoints)
        }
        test.perform()
        let page = await test.person.asked.first(1)[0]
        let whole = test.provider.consent(at: page).absoluteString
        let cut = whole.replacing(/&iss=[^&]*/, with: "")
        await test.person.pages.call(0).answer(testURL(cut))
        await ends(test, .invalidAnswer(reason: "issuer"))
    }

    // RFC 9700 section 4.4.2: a code of one server must not be shown to another one.
    @Test(arguments: [
        ("https://evil.test", false), ("https://auth.test:8443", false),
        ("https://auth.test", true),
        ("https://auth.test/tenant", true),
    ])
    func `without a configured issuer the redirect's is one at the page's origin`(
        issuer: String, isTaken: Bool
    ) async {
        let test = OAuthBed { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.issuer = nil
            configuration.server = .endpoints(endpoints)
        }
        test.perform()
        let page = await test.person.asked.first(1)[0]
        let named = test.provider.consent(at: page).absoluteString
            .replacing(/&iss=[^&]*/, with: "&iss=" + FormEncoding.encode(issuer))
        await test.person.pages.call(0).answer(testURL(named))
        if isTaken { return #expect(await test.ends(1)[0]?.error == nil) }
        await ends(test, .invalidAnswer(reason: "issuer"))
    }

    // RFC 8414 section 2: PKCE that the server ignores gives no protection.
    @Test(
        arguments: [
            (nil, true), (["plain", "S256"], true), (["plain"], false), ([], false),
        ] as [([String]?, Bool)])
    func `a login shows no page of a server whose document lists no S256`(
        methods: [String]?, isShown: Bool
    ) async {
        let test = OAuthBed { configuration, provider in
            configuration.server = .issuer(testURL(provider.issuer))
            provider.state.withLock { $0.challengeMethods = methods }
        }
        test.perform()
        await test.untilAsked(1, orEnded: 1)
        #expect(test.person.asked.elements.count == (isShown ? 1 : 0))
        guard isShown else {
            let reason = "the server does not list S256 of PKCE"
            return await ends(test, .invalidConfiguration(reason: reason))
        }
        await test.consent()
        #expect(await test.ends(1)[0]?.error == nil)
        test.expectNoViolation()
    }

    // OM-12: chance enough, and fresh for each visit.
    @Test func `each login has a new state and a new challenge`() async throws {
        let test = OAuthBed()
        let pages = try (0..<100).map { _ in
            try AuthorizationPage(
                OAuthConfiguration(
                    server: .endpoints(test.provider.endpoints), flow: .deviceCode,
                    clientIdentifier: "client", hosts: []),
                test.provider.endpoints, redirect: OAuthBed.redirect, using: .system
            ).url.absoluteString
        }
        #expect(Set(pages).count == 100)
        #expect(pages.allSatisfy { !$0.contains("verifier") })
    }

    // OM-13
    @Test func `a login without a page says so`() async {
        let test = OAuthBed { configuration, provider in
            configuration.server = .endpoints(OAuthEndpoints(token: provider.endpoint("/token")))
        }
        test.perform()
        await ends(test, .invalidConfiguration(reason: "no authorization endpoint"))
    }

    // OM-18, OL-20: the answer may never come, and there is one page at a time.
    @Test func `loads end at their deadlines while a page is open, and its credentials are kept`()
        async
    {
        let test = OAuthBed()
        test.perform(3)
        _ = await test.person.asked.first(1)
        test.clock.advance(by: .seconds(60))
        let late = await test.ends(3)
        #expect(
            late.allSatisfy {
                $0?.error == .timedOut(after: .seconds(60), mayHaveBeenProcessed: false)
            })
        test.perform()
        await test.consent()
        #expect(await test.ends(4).last??.error == nil)
        #expect(test.person.asked.elements.count == 1)
        test.expectNoViolation()
    }

    // RFC 7636 appendix B
    @Test func `a challenge is derived as the RFC says`() {
        #expect(
            AuthorizationPage.challenge(for: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    // FIPS 180-4, and the lengths around a block
    @Test func `SHA-256 agrees with the vectors of the standard`() {
        func hex(_ text: String) -> String {
            SHA256.hash(text.utf8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                .joined()
        }
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(
            hex(String(repeating: "a", count: 55))
                == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318")
        #expect(
            hex(String(repeating: "a", count: 56))
                == "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a")
        #expect(
            hex(String(repeating: "a", count: 64))
                == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb")
    }

    @Test func `a login shows no page over plain http`() async {
        let test = OAuthBed { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.authorization = testURL("http://auth.test/authorize")
            configuration.server = .endpoints(endpoints)
        }
        test.perform()
        _ = await test.ends(1)
        #expect(test.person.asked.elements.isEmpty)
        await test.factory.reset()
    }

    @Test func `a login accepts a redirect whose empty path became a slash`() throws {
        let provider = StrictProvider { Instant(nanoseconds: 0) }
        let page = try AuthorizationPage(
            OAuthConfiguration(
                server: .endpoints(provider.endpoints),
                flow: .authorizationCode(redirect: testURL("http://127.0.0.1:7777")),
                clientIdentifier: "client", hosts: []),
            provider.endpoints, redirect: testURL("http://127.0.0.1:7777"), using: .system)
        let answer = provider.consent(at: page.url).absoluteString
        // As every browser writes it.
        let visited = testURL(answer.replacing(":7777?", with: ":7777/?"))
        #expect(throws: Never.self) { try page.code(from: visited) }
    }
}
