// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport

/// The reason why one of the library's authorisers could not authorise a request.
///
/// A load that ends `.cannotAuthenticate` has it as its error's `underlyingError`. The async
/// functions throw the `DataLoaderError`, whose reason names it as well. It never holds a secret.
/// New cases may be added.
@nonexhaustive public enum AuthorisationError: Error, Hashable, Sendable {
    /// There is no credential, and no delegate or function provided one.
    case noCredentials
    /// The authorization server, or the resource's, refused with this code of RFC 6749 or RFC 8628.
    case refused(code: String)
    /// Five fetches began within 30 seconds, and there is no usable credential.
    case tooManyRefreshes
    /// The credential was not fetched within its time limit.
    case timedOut
    /// A `DelegatingAuthoriser` released its delegate without an answer.
    case noAnswer
    /// The authoriser is being reset, or was reset.
    case reset
    /// The request names a method that no authoriser of the factory has.
    case unknownMethod(AuthenticationMethod)
    /// The request to the authorization server failed.
    case load(DataLoaderError)
    /// A response violates its specification; the reason names the part, never its content.
    case invalidAnswer(reason: String)
    /// A setting makes requests impossible.
    case invalidConfiguration(reason: String)
    /// The credentials could not be read or written.
    case store(reason: String)

    /// Whether the credential used to fetch another one is invalid (RFC 6749 section 5.2).
    ///
    /// A server may have further codes for it.
    package var endsCredential: Bool {
        self == .refused(code: "invalid_grant")
    }

    /// The codes with which servers refuse a refresh because its token is invalid.
    ///
    /// RFC 6749 has one; some servers have names of their own. Any other code is about the program
    /// or a temporary condition, and must not cost a user's login.
    package static let codesOfRefreshTokens: Set<String> = [
        "invalid_grant", "bad_refresh_token", "invalid_refresh_token", "token_expired",
        "token_revoked", "interaction_required", "consent_required", "login_required",
    ]
}
