// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What an authorization server has issued (RFC 6749 section 5.1): to be kept where nobody else reads.
///
/// An authoriser hands them to its store and to nobody else: there a program finds scope or ID token.
public struct OAuthCredentials: Hashable, Sendable {
    /// The token that requests carry.
    public var accessToken: String
    /// What gets the next one; nil when the server has issued none.
    public var refreshToken: String?
    /// The scope that was granted, where the server has named it.
    public var scope: String?
    /// The OpenID token as it came; nothing of it is checked or used.
    public var idToken: String?
    /// How long the access token lasts from its receipt; nil when the server does not say.
    public var lifetime: Duration?
    /// When it was received, on the wall clock: for credentials that are read from a store.
    public var received: Date
    /// Which server has issued them: its issuer, or its token endpoint.
    ///
    /// An authoriser shows them to no other; nil counts as its own.
    public var server: String?

    /// Makes credentials.
    public init(
        accessToken: String, refreshToken: String? = nil, scope: String? = nil,
        idToken: String? = nil, lifetime: Duration? = nil, received: Date, server: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scope = scope
        self.idToken = idToken
        self.lifetime = lifetime
        self.received = received
        self.server = server
    }

    /// What is left of the access token's life; nil when it has no end.
    ///
    /// Seen from before its receipt it is over: the clock was moved, and nothing is known. Machines
    /// that share a store may differ by a minute.
    func remaining(at date: Date) -> Duration? {
        guard let lifetime else { return nil }
        let age = date.timeIntervalSince(received)
        guard age >= -60 else { return .zero }
        return max(.zero, lifetime - .saturating(seconds: max(0, age)))
    }

    /// Whether these are others' tokens too; times lose a little where they are written.
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
    }

    /// Reads what `encode` wrote.
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
            server: try container.decodeIfPresent(String.self, forKey: .server))
    }

    /// Writes everything: lifetimes in seconds, the receipt in seconds since 1970.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(accessToken, forKey: .accessToken)
        try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try container.encodeIfPresent(scope, forKey: .scope)
        try container.encodeIfPresent(idToken, forKey: .idToken)
        try container.encodeIfPresent(lifetime?.inSeconds, forKey: .lifetime)
        try container.encode(received.timeIntervalSince1970, forKey: .received)
        try container.encodeIfPresent(server, forKey: .server)
    }
}

extension OAuthCredentials: CustomStringConvertible {
    /// What there is, never a token.
    public var description: String {
        "OAuth credentials" + (lifetime.map { " for \($0)" } ?? "")
            + (refreshToken == nil ? "" : ", to be refreshed")
    }
}
