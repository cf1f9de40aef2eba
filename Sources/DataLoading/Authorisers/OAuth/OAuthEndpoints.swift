// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Where an authorization server answers.
public struct OAuthEndpoints: Hashable, Sendable {
    /// Where tokens are issued (RFC 6749 section 3.2).
    public var token: URL
    /// Where a person consents (RFC 6749 section 3.1).
    public var authorization: URL?
    /// Where a device asks for its codes (RFC 8628 section 3.1).
    public var deviceAuthorization: URL?
    /// Where tokens are revoked (RFC 7009).
    public var revocation: URL?
    /// The page that ends a person's session, for the delegate to show (OpenID RP-Initiated Logout).
    public var endSession: URL?
    /// The server's name, which the `iss` of a redirect (RFC 9207) has to be.
    ///
    /// Without it an `iss` has to be at the origin of `authorization`, or the redirect is refused.
    /// Servers that do not name themselves are told apart by their redirects alone: a program that
    /// uses several has a redirect URL for each (RFC 9700 section 4.4).
    public var issuer: String?
    /// Whether the server says that each redirect has `iss`; then one without it is refused.
    public var alwaysNamesIssuer = false
    /// False when the server's document lists how it takes PKCE, and S256 is not there.
    var takesS256 = true

    /// Makes endpoints.
    public init(
        token: URL, authorization: URL? = nil, deviceAuthorization: URL? = nil,
        revocation: URL? = nil, endSession: URL? = nil, issuer: String? = nil
    ) {
        self.token = token
        self.authorization = authorization
        self.deviceAuthorization = deviceAuthorization
        self.revocation = revocation
        self.endSession = endSession
        self.issuer = issuer
    }
}
