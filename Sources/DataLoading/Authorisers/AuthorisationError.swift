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
    /// (RFC 6749 section 5.2): other codes are about the program, or the moment.
    var endsCredential: Bool {
        self == .refused(code: "invalid_grant")
    }

    /// Whether a refusal of a refresh says that its token is good for nothing any more.
    ///
    /// Servers have names of their own for it: `bad_refresh_token`, `token_expired`,
    /// `interaction_required`. So this is a list of what is about the program, or the moment.
    var endsRefreshToken: Bool {
        guard case .refused(let code) = self else { return false }
        return !Self.codesOfOtherCauses.contains(code)
    }

    private static let codesOfOtherCauses: Set<String> = [
        "invalid_client", "unauthorized_client", "invalid_request", "unsupported_grant_type",
        "invalid_scope", "slow_down", "temporarily_unavailable", "server_error",
    ]
}
