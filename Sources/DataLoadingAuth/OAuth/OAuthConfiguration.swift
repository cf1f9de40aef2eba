// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoading
public import DataLoadingTransport
import Foundation

/// The settings of an OAuth authoriser: server, flow, client and hosts.
public struct OAuthConfiguration: Sendable, OpaquelyMirrored {
    /// The source of the server's endpoints.
    public var server: Server
    /// The way in which the program gets its first credentials.
    public var flow: Flow
    /// The client identifier that the server has assigned to the program.
    ///
    /// Empty when it has assigned none, which is possible with `.grant` only.
    public var clientIdentifier: String
    /// The client authentication; default none, which excludes the flow `.clientCredentials`.
    public var clientAuthentication = ClientAuthentication.none
    /// The certificate that the server's endpoints are shown with `.mutualTLS`; default nil.
    ///
    /// It is asked before each request to an endpoint, so that it can return a certificate that was
    /// renewed. It has 10 seconds. When it throws, the load that needs a token ends with that
    /// error.
    public var clientIdentity: (@Sendable () async throws -> ClientIdentity)?
    /// The scopes to request; by default none are requested and the server decides.
    public var scopes: [String] = []
    /// Further fields of each request for a token, such as `audience` or `resource` (RFC 8707).
    ///
    /// A name may occur several times. A name that the authoriser sets itself ends each load
    /// `.invalidConfiguration`. Not for secrets: stores keep these fields beside the credentials.
    public var tokenParameters: [(name: String, value: String)] = []
    /// Further fields of a login's page, and of the request for a device code.
    ///
    /// An example is `access_type`. The rules of `tokenParameters` apply.
    public var loginParameters: [(name: String, value: String)] = []
    /// The hosts that may receive the access token.
    ///
    /// Hosts are matched exactly and without regard to case. A name or an address means the
    /// scheme's default port, "api.example.com:8443" that port, "localhost:*" any port. Subdomains
    /// and other hosts are sent the request without the token. Malformed hosts, or none, end each
    /// load of the authoriser `.invalidConfiguration`.
    public var hosts: Set<String>
    /// Whether `http` to 127.0.0.1, ::1 and localhost may be used and receive tokens.
    ///
    /// For development; default false.
    public var allowsPlainLoopback = false
    /// Whether the flow starts at once when the server refuses a refresh token; default false.
    ///
    /// With true, the waiting loads wait for the flow. With false they end, and the next load
    /// starts it.
    public var startsOverAfterRefusal = false
    /// Further codes with which the server says that a refresh token is invalid; default none.
    ///
    /// Known codes are `invalid_grant`, `bad_refresh_token`, `invalid_refresh_token`,
    /// `token_expired`, `token_revoked`, `interaction_required`, `consent_required` and
    /// `login_required`. They count with any status from 400 to 499 and with 200. Codes added here
    /// count with 200, 400 and 401. After any other answer the token is kept and tried again later.
    public var codesThatEndRefreshTokens: Set<String> = []
    /// A name for logs; default "oauth".
    public var identifier = "oauth"
    /// The method that a request must name for the authoriser to be asked.
    ///
    /// Default nil: every request.
    public var method: AuthenticationMethod?

    /// Makes a configuration with the defaults above.
    public init(server: Server, flow: Flow, clientIdentifier: String, hosts: Set<String>) {
        self.server = server
        self.flow = flow
        self.clientIdentifier = clientIdentifier
        self.hosts = hosts
    }
}

extension OAuthConfiguration {
    /// Whether a refused refresh means that the refresh token is invalid.
    func endsRefreshToken(_ error: any Error) -> Bool {
        guard case .refused(let code)? = error as? AuthorisationError else { return false }
        return AuthorisationError.codesOfRefreshTokens.contains(code)
            || codesThatEndRefreshTokens.contains(code)
    }

    /// Whether a page or an endpoint may be at this URL: over https, or on loopback if allowed.
    func allows(_ url: URL) -> Bool {
        HostScope([], allowsPlainLoopback: allowsPlainLoopback)
            .isSafe(DataLoaderRequest(url: url))
    }
}
