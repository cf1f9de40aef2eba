// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

extension OAuthConfiguration {
    /// The source of the server's endpoints.
    public enum Server: Hashable, Sendable {
        /// The program states them.
        case endpoints(OAuthEndpoints)
        /// The document below this URL (OpenID Connect Discovery, or RFC 8414), fetched once a day.
        case issuer(URL)
    }

    /// The way in which the program gets its first credentials.
    public enum Flow: Sendable {
        /// A person consents in a browser, which is then redirected to `redirect`.
        ///
        /// This is the authorization code grant (RFC 6749 section 4.1) with PKCE, method S256 (RFC
        /// 7636).
        case authorizationCode(redirect: URL)
        /// A person consents on another device (RFC 8628).
        case deviceCode
        /// The program authenticates as itself (RFC 6749 section 4.4).
        case clientCredentials
        /// The program makes the grant: a signed assertion (RFC 7523), a token to be exchanged (RFC
        /// 8693).
        ///
        /// The function gets the URL of the token endpoint and returns the fields of the form,
        /// `grant_type` among them. It is called for each token, in one process at a time, and has
        /// 10 seconds. What it throws ends the waiting loads.
        case grant(@Sendable (URL) async throws -> [(name: String, value: String)])
    }

    /// The client authentication at the token endpoint.
    public enum ClientAuthentication: Sendable, OpaquelyMirrored {
        /// Basic authentication in `Authorization` (RFC 6749 section 2.3.1).
        ///
        /// The RFC requires name and secret to be form-encoded. Some servers do not decode them:
        /// use `form` when such a server rejects a secret with other characters than letters,
        /// digits and `*-._`.
        case basic(secret: String)
        /// The secret in the form, for servers that do not accept Basic.
        case form(secret: String)
        /// A JSON Web Token that the program signs, or has from its platform (RFC 7523).
        ///
        /// Servers call this `private_key_jwt`, federated credentials or workload identity. The
        /// function gets the URL of the token endpoint, the audience that most servers demand. It
        /// is called for each request, because a server may accept a token once only, and has 10
        /// seconds. What it throws ends the waiting loads.
        case assertion(@Sendable (URL) async throws -> String)
        /// A client certificate (RFC 8705): `clientIdentity`, or else that of the service's trust
        /// policy for the endpoint's host.
        ///
        /// The form has the client identifier. The endpoints in `mtls_endpoint_aliases` of the
        /// server's document are used where there are any. Without a certificate nothing is sent.
        case mutualTLS
        /// No authentication, for programs that cannot keep a secret, such as installed ones.
        case none
    }
}

extension OAuthConfiguration.Server {
    /// The server's name in stored credentials: its issuer, or its token endpoint.
    var name: String {
        switch self {
        case .endpoints(let endpoints): endpoints.token.absoluteString
        case .issuer(let issuer): issuer.absoluteString
        }
    }
}

extension OAuthConfiguration.Flow {
    /// Whether a person has to consent, who may take long.
    var asksPerson: Bool {
        switch self {
        case .authorizationCode, .deviceCode: true
        case .clientCredentials, .grant: false
        }
    }
}

extension OAuthConfiguration.ClientAuthentication: CustomStringConvertible {
    /// The method, never the secret.
    public var description: String {
        switch self {
        case .basic: "basic"
        case .form: "form"
        case .assertion: "assertion"
        case .mutualTLS: "mutualTLS"
        case .none: "none"
        }
    }
}
