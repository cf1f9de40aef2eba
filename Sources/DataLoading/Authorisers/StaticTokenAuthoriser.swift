// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Adds one token that does not change to requests for the hosts it was made for.
///
/// It has nothing to renew: a 401 is delivered. A TRACE request goes without the token.
/// After `reset` it has no token any more, and refuses.
public final class StaticTokenAuthoriser: Authoriser {
    /// A name for logs; never the token.
    public let identifier: String
    private let scope: HostScope
    private let token: Locked<AccessToken?>
    private let apply: @Sendable (AccessToken, inout DataLoaderRequest) -> Void

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - token: The token; a byte that a header may not have ends each load `.invalidRequest`.
    ///   - hosts: The hosts that may see it, each for itself: a name as in
    ///     a URL, without regard to case, or an address, which means the scheme's own port;
    ///     "api.example.com:8443" means that port, and "localhost:*" any. Other hosts,
    ///     also those below one, are asked without. Malformed hosts, and none at all, end each load
    ///     `.invalidConfiguration`.
    ///   - allowsPlainLoopback: Whether `http` to 127.0.0.1, ::1 and localhost may see it, for
    ///     development; otherwise, and by default, only `https` does.
    ///   - apply: Adds the token to a request; by default as RFC 6750 has it, in `Authorization`,
    ///     unless the request has such a field. Called for each attempt, on any thread.
    public init(
        identifier: String = "static token", token: String, hosts: Set<String>,
        allowsPlainLoopback: Bool = false,
        apply: (@Sendable (AccessToken, inout DataLoaderRequest) -> Void)? = nil
    ) {
        self.identifier = identifier
        scope = HostScope(
            hosts, allowsPlainLoopback: allowsPlainLoopback, sparesOwn: apply == nil)
        self.token = Locked(AccessToken(token))
        self.apply = apply ?? { $1.addBearer($0.value) }
    }

    /// Throws `.invalidConfiguration` when a host is malformed or there is none; for a program's start.
    public func validate() throws(DataLoaderError) {
        if let malformedPart { throw malformedPart }
    }

    /// Whether the request goes to one of the hosts, safely, and has no `Authorization` of its own, where
    /// the token would stand.
    public func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        scope.covers(request)
    }

    /// Answers at once.
    public func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        if let fault = scope.fault {
            return delegate.authoriser(self, didFailToAuthorise: request, error: OwnFault(fault))
        }
        guard let token = token.withLock({ $0 }) else {
            return delegate.authoriser(
                self, didFailToAuthorise: request, error: AuthorisationError.reset)
        }
        var authorised = request
        apply(token, &authorised)
        authorised.keepCredentialOnThisMachine()
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

extension StaticTokenAuthoriser: Validatable {
    var malformedPart: DataLoaderError? { scope.fault }
}
