// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// The form fields of a token request (RFC 6749 section 4).
struct TokenGrant: Sendable, OpaquelyMirrored {
    let fields: [(String, String)]

    /// A grant that the program makes itself; throws when it has no type, or a scope of
    /// its own beside that of the configuration.
    init(
        _ fields: [(name: String, value: String)], scope: String?
    ) throws(AuthorisationError) {
        guard fields.contains(where: { $0.name == "grant_type" && !$0.value.isEmpty }) else {
            throw .invalidConfiguration(reason: "a grant without grant_type")
        }
        let scopes = scope.map { [("scope", $0)] } ?? []
        self.fields = try fields.map { ($0.name, $0.value) }.adding(scopes)
    }

    private init(_ type: String, _ fields: (String, String)...) {
        self.fields = [("grant_type", type)] + fields
    }

    /// An authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
    static func code(_ code: String, redirect: String, verifier: String) -> TokenGrant {
        TokenGrant(
            "authorization_code", ("code", code), ("redirect_uri", redirect),
            ("code_verifier", verifier))
    }

    /// A refresh token (RFC 6749 section 6).
    static func refresh(_ token: String) -> TokenGrant {
        TokenGrant("refresh_token", ("refresh_token", token))
    }

    /// The client's own credentials (RFC 6749 section 4.4.2).
    static func client(scope: String?) -> TokenGrant {
        guard let scope else { return TokenGrant("client_credentials") }
        return TokenGrant("client_credentials", ("scope", scope))
    }

    /// A device code (RFC 8628 section 3.4).
    static func device(_ code: String) -> TokenGrant {
        TokenGrant("urn:ietf:params:oauth:grant-type:device_code", ("device_code", code))
    }
}
