// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How a program gets OAuth 2 credentials, and who may see them.
public struct OAuthConfiguration: Sendable {
    /// Where the server's endpoints are known from.
    public enum Server: Hashable, Sendable {
        /// From the program.
        case endpoints(OAuthEndpoints)
        /// From the document below this URL (OpenID Connect Discovery, or RFC 8414), fetched once.
        case issuer(URL)
    }

    /// How the program gets its first credentials.
    public enum Flow: Hashable, Sendable {
        /// A person consents in a browser that ends at `redirect` (RFC 6749 section 4.1, with the
        /// PKCE of RFC 7636, method S256).
        case authorizationCode(redirect: URL)
        /// A person consents on another device (RFC 8628).
        case deviceCode
        /// The program is its own user (RFC 6749 section 4.4).
        case clientCredentials
    }

    /// How the program says who it is at the token endpoint.
    public enum ClientAuthentication: Hashable, Sendable {
        /// In `Authorization`, as Basic (RFC 6749 section 2.3.1), which wants name and secret
        /// form-encoded. Not every server decodes them: take `form` when yours does not know a
        /// secret that has other characters than letters, digits and `*-._`.
        case basic(secret: String)
        /// In the form, for servers that do not take Basic.
        case form(secret: String)
        /// Not at all: it can keep no secret, as what is installed on users' machines.
        case none
    }

    /// What to do when the server refuses a refresh token.
    public enum RefusedRefresh: Hashable, Sendable {
        /// End the loads that wait; the next one starts the flow. The default.
        case fail
        /// Start the flow at once, and let the loads wait for it.
        case startOver
    }

    /// Where the server's endpoints are known from.
    public var server: Server
    /// How the first credentials are got.
    public var flow: Flow
    /// The name that the server knows the program by.
    public var clientIdentifier: String
    /// How the program proves who it is; default not at all, with which there are no client
    /// credentials.
    public var clientAuthentication = ClientAuthentication.none
    /// What to ask for; default what the server gives.
    public var scopes: [String] = []
    /// The hosts that may see the access token, each for itself.
    ///
    /// A name as in a URL, without regard to case, or an address, which means the scheme's own port;
    /// "api.example.com:8443" means that port, and "localhost:*" any. Other hosts, also those below
    /// one, are asked without. Malformed hosts, and none at all, end each load of the authoriser
    /// `.invalidConfiguration`.
    public var hosts: Set<String>
    /// Whether `http` to 127.0.0.1, ::1 and localhost may be used and see tokens, for development;
    /// default false.
    public var allowsPlainLoopback = false
    /// What to do when the server refuses a refresh token; default `.fail`.
    public var refusedRefresh = RefusedRefresh.fail
    /// More codes with which the server says that a refresh token is good for nothing any more; by
    /// default none.
    ///
    /// Known are `invalid_grant`, `bad_refresh_token`, `invalid_refresh_token`, `token_expired`,
    /// `token_revoked`, `interaction_required`, `consent_required` and `login_required`, with any status
    /// from 400 to 499 and with 200; those that are added here count with 200, 400 and 401. After anything
    /// else the token is kept, and tried again later.
    public var codesThatEndRefreshTokens: Set<String> = []
    /// A name for logs; default "oauth".
    public var identifier = "oauth"

    /// Makes a configuration with the defaults above.
    public init(server: Server, flow: Flow, clientIdentifier: String, hosts: Set<String>) {
        self.server = server
        self.flow = flow
        self.clientIdentifier = clientIdentifier
        self.hosts = hosts
    }
}

extension OAuthConfiguration {
    /// Whether a refusal of a refresh says that its token is good for nothing any more.
    func endsRefreshToken(_ error: any Error) -> Bool {
        guard case .refused(let code)? = error as? AuthorisationError else { return false }
        return AuthorisationError.codesOfRefreshTokens.contains(code)
            || codesThatEndRefreshTokens.contains(code)
    }

    /// Whether a page or an endpoint may be there: over https, or in development.
    func allows(_ url: URL) -> Bool {
        HostScope([], allowsPlainLoopback: allowsPlainLoopback)
            .isSafe(DataLoaderRequest(url: url))
    }
}

extension OAuthConfiguration.Server {
    /// What credentials remember it by.
    var name: String {
        switch self {
        case .endpoints(let endpoints): endpoints.token.absoluteString
        case .issuer(let issuer): issuer.absoluteString
        }
    }
}

extension OAuthConfiguration.ClientAuthentication: CustomStringConvertible {
    /// The way, never the secret.
    public var description: String {
        switch self {
        case .basic: "basic"
        case .form: "form"
        case .none: "none"
        }
    }
}
