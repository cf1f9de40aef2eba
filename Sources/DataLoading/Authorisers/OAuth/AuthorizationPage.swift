// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One visit to the page where a person consents: its URL, and what its redirect has to bring back.
struct AuthorizationPage: Sendable {
    let url: URL
    let redirect: URL
    let verifier: String
    private let state: String
    private let endpoints: OAuthEndpoints

    /// Makes a visit with a fresh state and verifier, 256 bits each.
    init(
        _ configuration: OAuthConfiguration, _ endpoints: OAuthEndpoints, redirect: URL,
        using random: RandomSource
    ) throws(AuthorisationError) {
        guard let page = endpoints.authorization else {
            throw .invalidConfiguration(reason: "no authorization endpoint")
        }
        guard endpoints.takesS256 else {
            throw .invalidConfiguration(reason: "the server does not list S256 of PKCE")
        }
        verifier = Self.secret(random)
        state = Self.secret(random)
        self.redirect = redirect
        self.endpoints = endpoints
        var fields = [
            ("response_type", "code"), ("client_id", configuration.clientIdentifier),
            ("redirect_uri", redirect.absoluteString), ("state", state),
            ("code_challenge", Self.challenge(for: verifier)), ("code_challenge_method", "S256"),
        ]
        if let scope = configuration.scope { fields.append(("scope", scope)) }
        let query = String(decoding: FormEncoding.encode(fields), as: UTF8.self)
        // RFC 6749 section 3.1: a query that the endpoint has is kept; a fragment it must not have.
        guard configuration.allows(page) else {
            throw .invalidConfiguration(reason: "an endpoint without https")
        }
        let text = page.absoluteString
        guard !text.contains("#"),
            let url = URL(string: text + (text.contains("?") ? "&" : "?") + query)
        else { throw .invalidConfiguration(reason: "the authorization endpoint") }
        self.url = url
    }

    /// Reads the code from where the page has led; everything else is a refusal.
    func code(from callback: URL) throws(AuthorisationError) -> String {
        let text = callback.absoluteString
        var base = redirect.absoluteString
        // Browsers write a slash where there is no path.
        if redirect.path.isEmpty, !text.hasPrefix(base + "?") { base += "/" }
        // RFC 6749 section 3.1.2: a query that the redirect has is kept, and more is put behind it.
        let answer = text.dropFirst(base.count)
        guard text.hasPrefix(base), answer.first == (base.contains("?") ? "&" : "?") else {
            throw .invalidAnswer(reason: "another redirect")
        }
        let fields = try FormDecoding.decode(answer.dropFirst().prefix { $0 != "#" })
        // First of all: only what answers this visit is looked at (RFC 6749 section 10.12).
        guard fields["state"] == state else { throw .invalidAnswer(reason: "state") }
        if let issuer = fields["iss"] {
            guard isExpected(issuer) else { throw .invalidAnswer(reason: "issuer") }
        } else if endpoints.alwaysNamesIssuer {
            throw .invalidAnswer(reason: "issuer")
        }
        if let error = fields["error"] { throw .refused(code: TokenAnswer.code(error)) }
        guard let code = fields["code"], !code.isEmpty else {
            throw .invalidAnswer(reason: "no code")
        }
        return code
    }

    /// Whether the page's server may call itself so: one server's code must not be shown to another
    /// (RFC 9700 section 4.4).
    private func isExpected(_ issuer: String) -> Bool {
        if let expected = endpoints.issuer { return issuer == expected }
        guard let own = try? RequestTarget(url).origin,
            let named = try? RequestTarget(text: issuer).origin
        else { return false }
        return named == own
    }

    /// RFC 7636 section 4.1 wants 32 random bytes in Base64url: 43 characters.
    private static func secret(_ random: RandomSource) -> String {
        let bytes = random.withGenerator { generator in
            (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        return base64URL(Data(bytes))
    }

    /// RFC 7636 section 4.2.
    static func challenge(for verifier: String) -> String {
        base64URL(Data(SHA256.hash(verifier.utf8)))
    }

    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

extension OAuthConfiguration {
    /// The scopes as a field has them; nil for none.
    var scope: String? { scopes.isEmpty ? nil : scopes.joined(separator: " ") }
}
