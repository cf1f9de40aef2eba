// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why an authoriser of the library could not authorise a request.
///
/// A load that ends `.cannotAuthenticate` has it as its response's `underlyingError`, and what is awaited
/// throws the `DataLoaderError`, whose reason has it as well. It never holds a secret. New cases may
/// come.
@nonexhaustive public enum AuthorisationError: Error, Hashable, Sendable {
    /// There is no credential, and nobody who was asked gave one.
    case noCredentials
    /// The authorization server, or the resource's, said no, with this code of RFC 6749 or RFC 8628.
    case refused(code: String)
    /// Five fetches have begun within 30 seconds, and there is nothing to use.
    case tooManyRefreshes
    /// The credential did not come within its time limit.
    case timedOut
    /// The authoriser is being reset, or was.
    case reset
    /// The request names a method that no authoriser of the factory has.
    case unknownMethod(AuthenticationMethod)
    /// The request to the authorization server has failed.
    case load(DataLoaderError)
    /// An answer that breaks its specification; the reason names the part, never its content.
    case invalidAnswer(reason: String)
    /// A setting with which nothing can be asked.
    case invalidConfiguration(reason: String)
    /// The credentials could not be read or written.
    case store(reason: String)

    /// Whether the credential that was used to get another one is good for nothing any more
    /// (RFC 6749 section 5.2), unless a server has other codes for it.
    var endsCredential: Bool {
        self == .refused(code: "invalid_grant")
    }

    /// The codes with which servers refuse a refresh because its token is good for nothing any more.
    ///
    /// RFC 6749 has one, and some have names of their own for it. Whatever else is said is about the
    /// program, or the moment, and costs nobody a login.
    static let codesOfRefreshTokens: Set<String> = [
        "invalid_grant", "bad_refresh_token", "invalid_refresh_token", "token_expired",
        "token_revoked", "interaction_required", "consent_required", "login_required",
    ]
}
