// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What an authoriser of this library knows of its credential; never the credential itself.
public struct CredentialState: Hashable, Sendable {
    /// The authoriser's `identifier`.
    public let authoriser: String
    /// Whether it has a credential that has not expired, and that no server has refused.
    public let isUsable: Bool
    /// How long the credential lasts; nil without one, and for one that does not expire.
    public let remaining: Duration?
    /// How often a credential was fetched, or is being fetched.
    public let fetches: Int
    /// How many of those failed.
    public let failures: Int
    /// Whether the last fetch that has ended failed.
    public let hasFailed: Bool
    /// Why the last fetch that failed did so, without any secret: the name of the error, as
    /// "connect_refused", the words of an ``AuthorisationError``, or the type of another error; nil while
    /// none has failed.
    public let lastFailure: String?
    /// The number of loads that wait for a credential.
    public let waiting: Int

    package init(
        authoriser: String, isUsable: Bool, remaining: Duration?, fetches: Int, failures: Int,
        hasFailed: Bool, lastFailure: (any Error)? = nil, waiting: Int
    ) {
        self.authoriser = authoriser
        self.isUsable = isUsable
        self.remaining = remaining
        self.fetches = fetches
        self.failures = failures
        self.hasFailed = hasFailed
        self.lastFailure = lastFailure.map(Self.text)
        self.waiting = waiting
    }
}

extension CredentialState {
    private static func text(_ error: any Error) -> String {
        switch error {
        case AuthorisationError.load(let error): error.name
        case let error as AuthorisationError: error.description
        case let error as DataLoaderError: error.name
        default: String(describing: type(of: error))
        }
    }
}

/// An authoriser that fetches its credential and can report its state.
package protocol ObservableAuthoriser: Authoriser {
    /// The state of the credential now; any thread may ask.
    var credentialState: CredentialState { get }
}
