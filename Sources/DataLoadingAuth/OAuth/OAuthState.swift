// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A state of `OAuthMachine`; the drawing shows the order of its steps.
///
/// ```
/// saved ─▶ logIn ─▶ exchange ─▶ done      logOut
///   │  ╲             (tokens)     ▲      (reached from every state, by a reset)
///   │   ▶ refresh ────────────────┤
///   └─────────────────────────────┘
/// ```
enum OAuthState: Sendable {
    /// Read the store for other credentials than the spent ones.
    case saved(spent: OAuthCredentials?)
    /// Let a person consent, or the program authenticate as itself.
    ///
    /// `isOver` says that the credentials in use were deleted, or refused by the server.
    case logIn(isOver: Bool)
    /// Exchange the result of the consent for tokens.
    case exchange(TokenGrant)
    /// Exchange a refresh token for a new access token.
    case refresh(OAuthCredentials)
    /// There are stored credentials, valid until the instant.
    case done(OAuthCredentials, until: Instant?)
}
