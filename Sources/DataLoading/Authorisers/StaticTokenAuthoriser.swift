// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Adds one bearer token that does not change (RFC 6750) to requests for the hosts it was made for.
///
/// It has nothing to renew: a 401 is delivered.
/// After `reset` it has no token any more, and refuses.
public final class StaticTokenAuthoriser: Authoriser {
    /// A name for logs; never the token.
    public let identifier: String
    private let scope: HostScope
    private let token: Locked<String?>

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - token: The token; a byte that a header may not have ends each load `.invalidRequest`.
    ///   - hosts: The hosts that may see it, without regard to case; others pass without it.
    ///   - identifier: A name for logs.
    ///   - allowsPlainLoopback: Whether `http` to 127.0.0.1, ::1 and localhost may see it, for
    ///     development; otherwise, and by default, only `https` does.
    public init(
        token: String, hosts: Set<String>, identifier: String = "token",
        allowsPlainLoopback: Bool = false
    ) {
        self.identifier = identifier
        scope = HostScope(hosts, allowsPlainLoopback: allowsPlainLoopback)
        self.token = Locked(token)
    }

    /// Whether the request goes to one of the hosts, safely, and has no `Authorization` of its own.
    public func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        scope.covers(request)
    }

    /// Answers at once, with the token in `Authorization`.
    public func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        guard let token = token.withLock({ $0 }) else {
            return delegate.authoriser(
                self, didFailToAuthorise: request, error: AuthorisationError.reset)
        }
        var authorised = request
        authorised.headers["Authorization"] = "Bearer " + token
        delegate.authoriser(self, authorised: authorised)
    }

    /// False: there is no other token.
    public func canRecover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool { false }

    /// Does nothing: there is no other token.
    public func requestFailedAuthorisation(
        _ request: DataLoaderRequest, response: DataLoaderResponse
    ) {}

    /// Does nothing: there is no other token.
    public func refresh() {}

    /// Forgets the token.
    public func reset() async {
        token.withLock { $0 = nil }
    }
}
