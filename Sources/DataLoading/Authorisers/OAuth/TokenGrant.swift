// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a token endpoint takes for tokens, as the form has it (RFC 6749 section 4).
struct TokenGrant: Sendable {
    let fields: [(String, String)]

    private init(_ type: String, _ fields: (String, String)...) {
        self.fields = [("grant_type", type)] + fields
    }

    /// RFC 6749 section 4.1.3, RFC 7636 section 4.5.
    static func code(_ code: String, redirect: String, verifier: String) -> TokenGrant {
        TokenGrant(
            "authorization_code", ("code", code), ("redirect_uri", redirect),
            ("code_verifier", verifier))
    }

    /// RFC 6749 section 6.
    static func refresh(_ token: String) -> TokenGrant {
        TokenGrant("refresh_token", ("refresh_token", token))
    }

    /// RFC 6749 section 4.4.2.
    static func client(scope: String?) -> TokenGrant {
        guard let scope else { return TokenGrant("client_credentials") }
        return TokenGrant("client_credentials", ("scope", scope))
    }

    /// RFC 8628 section 3.4.
    static func device(_ code: String) -> TokenGrant {
        TokenGrant("urn:ietf:params:oauth:grant-type:device_code", ("device_code", code))
    }
}
