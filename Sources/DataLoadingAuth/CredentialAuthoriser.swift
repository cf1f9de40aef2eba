// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoading

/// The common part of authorisers that fetch their credential.
protocol CredentialAuthoriser: ObservableAuthoriser {
    /// The credential that is added to requests.
    associatedtype Credential: Sendable
    /// The hosts that may receive it.
    var scope: HostScope { get }
    /// The provider of the credential.
    var credentials: CredentialProvider<Credential> { get }
}

// The public members below belong to each public authoriser that conforms and has none of its own;
// their comments are its documentation.
extension CredentialAuthoriser {
    /// Adds the credential to requests for the hosts: at once, or when it is fetched.
    public func authorise(_ request: DataLoaderRequest) -> Authorisation {
        authoriseByScope(request)
    }

    package var credentialState: CredentialState { credentials.state(of: identifier) }

    /// The default implementation of `authorise`.
    func authoriseByScope(_ request: DataLoaderRequest) -> Authorisation {
        guard scope.covers(request) else { return .unchanged }
        if let fault = scope.fault { return .refuse(OwnFault(fault)) }
        return credentials.authorise(request, by: self)
    }

    /// Records a server's refusal; returns whether another credential is there or can be fetched.
    ///
    /// Nothing is recorded when the server accepts the token but asks for a wider scope.
    public func recover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool {
        // RFC 6750 section 3.1.
        guard !AuthenticationChallenge.indicatesInsufficientScope(response.headers) else {
            return false
        }
        return credentials.refused(request, by: self)
    }

    /// Removes the credential, cancels the fetch, and fails the loads that wait for it.
    public func reset() async { await credentials.reset() }
}
