// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The URLs at which an authorization server answers.
public struct OAuthEndpoints: Hashable, Sendable {
    /// The token endpoint (RFC 6749 section 3.2).
    public var token: URL
    /// The page where a person consents (RFC 6749 section 3.1).
    public var authorization: URL?
    /// The endpoint that issues device codes (RFC 8628 section 3.1).
    public var deviceAuthorization: URL?
    /// The endpoint that revokes tokens (RFC 7009).
    public var revocation: URL?
    /// The page that ends a person's session (OpenID RP-Initiated Logout); the delegate shows it.
    public var endSession: URL?
    /// The server's name, which the `iss` of a redirect (RFC 9207) must equal.
    ///
    /// Without it, an `iss` must be at the origin of `authorization`, or the redirect is refused.
    /// Servers that send no `iss` can be told apart only by their redirects: a program that uses
    /// several needs a redirect URL for each (RFC 9700 section 4.4).
    public var issuer: String?
    /// Whether the server states that each redirect has `iss`.
    ///
    /// A redirect without it is then refused.
    public var alwaysNamesIssuer = false
    /// Whether the server accepts S256; false when its document lists PKCE methods without it.
    var takesS256 = true
    /// The endpoints that differ for clients with certificates (RFC 8705 section 5).
    var aliases = Aliases()

    struct Aliases: Hashable, Sendable {
        var token: URL?
        var deviceAuthorization: URL?
        var revocation: URL?
    }

    /// The endpoints with their aliases in place, for clients that authenticate by certificate.
    var forMutualTLS: OAuthEndpoints {
        var endpoints = self
        endpoints.token = aliases.token ?? token
        endpoints.deviceAuthorization = aliases.deviceAuthorization ?? deviceAuthorization
        endpoints.revocation = aliases.revocation ?? revocation
        return endpoints
    }

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
