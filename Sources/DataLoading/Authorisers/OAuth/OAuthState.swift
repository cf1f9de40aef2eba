// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Where an `OAuthMachine` is: the only order of its steps.
///
/// ```
/// saved ─▶ logIn ─▶ exchange ─▶ done      logOut
///   │  ╲             (tokens)     ▲      (reached from every state, by a reset)
///   │   ▶ refresh ────────────────┤
///   └─────────────────────────────┘
/// ```
enum OAuthState: Sendable {
    /// Look for credentials that were kept, others than those that are spent.
    case saved(spent: OAuthCredentials?)
    /// Let a person consent, or the program speak for itself; what there was may be over: deleted, or
    /// refused by its server.
    case logIn(isOver: Bool)
    /// Get tokens for what the consent brought.
    case exchange(TokenGrant)
    /// Get a new access token for a refresh token.
    case refresh(OAuthCredentials)
    /// Credentials are there, and kept; they last until then.
    case done(OAuthCredentials, until: Instant?)
}
