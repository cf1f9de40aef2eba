// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// The tokens that an authorization server has issued (RFC 6749 section 5.1).
///
/// Store them where no other user can read. An authoriser passes them to its store only: a program
/// reads scope or ID token there.
public struct OAuthCredentials: Hashable, Sendable, OpaquelyMirrored {
    /// The token that is added to requests.
    public var accessToken: String
    /// The token that gets the next access token; nil when the server has issued none.
    public var refreshToken: String?
    /// The granted scope; nil when the server has not named it.
    public var scope: String?
    /// The OpenID token as received; the authoriser neither checks nor uses it.
    public var idToken: String?
    /// The lifetime of the access token from its receipt; nil when the server does not state it.
    public var lifetime: Duration?
    /// The time of receipt on the wall clock, for credentials that are read from a store.
    public var received: Date
    /// The server that issued them: its issuer, or its token endpoint.
    ///
    /// An authoriser sends them to no other server; nil counts as its own.
    public var server: String?
    /// The client identifier that they were issued to; nil counts as the authoriser's own.
    public var client: String?
    /// The requested scopes and token parameters, as a form; nil counts as the authoriser's own.
    ///
    /// An authoriser with another client, other scopes or other parameters does not use them.
    public var request: String?

    /// Makes credentials.
    public init(
        accessToken: String, refreshToken: String? = nil, scope: String? = nil,
        idToken: String? = nil, lifetime: Duration? = nil, received: Date, server: String? = nil,
        client: String? = nil, request: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scope = scope
        self.idToken = idToken
        self.lifetime = lifetime
        self.received = received
        self.server = server
        self.client = client
        self.request = request
    }

    /// The remaining lifetime of the access token; nil when it has no end.
    ///
    /// It is zero more than a minute before the receipt: the clock was changed, and the age is
    /// unknown. The minute is for machines that share a store.
    func remaining(at date: Date) -> Duration? {
        guard let lifetime else { return nil }
        let age = date.timeIntervalSince(received)
        guard age >= -60 else { return .zero }
        return max(.zero, lifetime - .saturating(seconds: max(0, age)))
    }

    /// Whether the tokens are equal.
    ///
    /// Dates are not compared, because they lose precision when stored.
    func hasTokens(of other: OAuthCredentials?) -> Bool {
        accessToken == other?.accessToken && refreshToken == other?.refreshToken
    }
}

extension OAuthCredentials: Codable {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case scope
        case idToken = "id_token"
        case lifetime = "expires_in"
        case received = "received_at"
        case server
        case client = "client_id"
        case request
    }

    /// Decodes what `encode` wrote.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let lifetime = try container.decodeIfPresent(Double.self, forKey: .lifetime)
        self.init(
            accessToken: try container.decode(String.self, forKey: .accessToken),
            refreshToken: try container.decodeIfPresent(String.self, forKey: .refreshToken),
            scope: try container.decodeIfPresent(String.self, forKey: .scope),
            idToken: try container.decodeIfPresent(String.self, forKey: .idToken),
            lifetime: lifetime.map { .saturating(seconds: $0) },
            received: Date(
                timeIntervalSince1970: try container.decode(Double.self, forKey: .received)),
            server: try container.decodeIfPresent(String.self, forKey: .server),
            client: try container.decodeIfPresent(String.self, forKey: .client),
            request: try container.decodeIfPresent(String.self, forKey: .request))
    }

    /// Encodes everything: the lifetime in seconds, the receipt in seconds since 1970.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(accessToken, forKey: .accessToken)
        try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try container.encodeIfPresent(scope, forKey: .scope)
        try container.encodeIfPresent(idToken, forKey: .idToken)
        try container.encodeIfPresent(lifetime?.inSeconds, forKey: .lifetime)
        try container.encode(received.timeIntervalSince1970, forKey: .received)
        try container.encodeIfPresent(server, forKey: .server)
        try container.encodeIfPresent(client, forKey: .client)
        try container.encodeIfPresent(request, forKey: .request)
    }
}

extension OAuthCredentials: CustomStringConvertible {
    /// The lifetime and whether there is a refresh token, never a token.
    public var description: String {
        "OAuth credentials" + (lifetime.map { " for \($0)" } ?? "")
            + (refreshToken == nil ? "" : ", to be refreshed")
    }
}
