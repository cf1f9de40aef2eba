// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import DataLoading
import Foundation

/// One use of the page where a person consents: its URL, and the checks of its redirect.
struct AuthorizationPage: Sendable, OpaquelyMirrored {
    let url: URL
    let redirect: URL
    let verifier: String
    private let state: String
    private let endpoints: OAuthEndpoints

    /// Makes a page with a fresh state and verifier, 256 bits each.
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
        fields = try fields.adding(parameters: configuration.loginParameters)
        let query = String(decoding: FormEncoding.encode(fields), as: UTF8.self)
        // RFC 6749 section 3.1: an endpoint's query is kept; it must not have a fragment.
        guard configuration.allows(page) else {
            throw .invalidConfiguration(reason: "an endpoint without https")
        }
        let text = page.absoluteString
        guard !text.contains("#"),
            let url = URL(string: text + (text.contains("?") ? "&" : "?") + query)
        else { throw .invalidConfiguration(reason: "the authorization endpoint") }
        self.url = url
    }

    /// Reads the code from the redirect; throws for every other redirect.
    func code(from callback: URL) throws(AuthorisationError) -> String {
        let text = callback.absoluteString
        var base = redirect.absoluteString
        // Browsers add a slash where there is no path.
        if redirect.path.isEmpty, !text.hasPrefix(base + "?") { base += "/" }
        // RFC 6749 section 3.1.2: the redirect's own query is kept, and the answer is appended.
        let answer = text.dropFirst(base.count)
        guard text.hasPrefix(base), answer.first == (base.contains("?") ? "&" : "?") else {
            throw .invalidAnswer(reason: "another redirect")
        }
        let fields = try FormDecoding.decode(answer.dropFirst().prefix { $0 != "#" })
        // Checked first, so that only the answer to this URL is read (RFC 6749 section 10.12).
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

    /// Whether the page's server may use this issuer name.
    ///
    /// One server's code must not be sent to another (RFC 9700 section 4.4).
    private func isExpected(_ issuer: String) -> Bool {
        if let expected = endpoints.issuer { return issuer == expected }
        guard let own = try? RequestTarget(url).origin,
            let named = try? RequestTarget(text: issuer).origin
        else { return false }
        return named == own
    }

    /// Makes 32 random bytes in Base64url, 43 characters (RFC 7636 section 4.1).
    private static func secret(_ random: RandomSource) -> String {
        let bytes = random.withGenerator { generator in
            (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        return base64URL(Data(bytes))
    }

    /// The S256 code challenge of a verifier (RFC 7636 section 4.2).
    static func challenge(for verifier: String) -> String {
        base64URL(Data(SHA256.hash(verifier.utf8)))
    }

    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

extension OAuthConfiguration {
    /// The scopes as one field value; nil without scopes.
    var scope: String? { scopes.isEmpty ? nil : scopes.joined(separator: " ") }
}
