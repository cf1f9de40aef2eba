// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
public import DataLoading

/// Adds one token that does not change to requests for its hosts.
///
/// There is nothing to renew: a 401 is delivered. A TRACE request is sent without the token. After
/// `reset` it has no token and refuses requests.
public final class StaticTokenAuthoriser: Authoriser {
    /// A name for logs; never the token.
    public let identifier: String
    /// The method that a request must name; nil for every request.
    public let method: AuthenticationMethod?
    /// Whether `apply` is the default.
    public let isNonblocking: Bool
    private let scope: HostScope
    private let token: Locked<AccessToken?>
    private let apply: @Sendable (AccessToken, inout DataLoaderRequest) -> Void

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - token: The token; a byte that a header may not contain ends each load `.invalidRequest`.
    ///   - hosts: The hosts that may receive the token, matched exactly and without regard to case.
    ///     A name or an address means the scheme's default port, "api.example.com:8443" that port,
    ///     "localhost:*" any port. Subdomains and other hosts are sent the request without it.
    ///     Malformed hosts, or none, end each load `.invalidConfiguration`.
    ///   - allowsPlainLoopback: Whether `http` to 127.0.0.1, ::1 and localhost may receive it, for
    ///     development; by default only `https` may.
    ///   - method: The method that a request must name; nil, the default, for every request.
    ///   - apply: Adds the token to a request; by default to `Authorization` (RFC 6750), unless the
    ///     request has such a field. Called for each attempt, on the queue of the load's factory.
    public init(
        identifier: String = "static token", token: String, hosts: Set<String>,
        allowsPlainLoopback: Bool = false, method: AuthenticationMethod? = nil,
        apply: (@Sendable (AccessToken, inout DataLoaderRequest) -> Void)? = nil
    ) {
        self.identifier = identifier
        self.method = method
        isNonblocking = apply == nil
        scope = HostScope(
            hosts, allowsPlainLoopback: allowsPlainLoopback, sparesOwn: apply == nil)
        self.token = Locked(AccessToken(token))
        self.apply = apply ?? { $1.addBearer($0.value) }
    }

    /// Adds the token at once.
    ///
    /// Requests to other hosts are unchanged, and so are those whose own `Authorization` the
    /// default `apply` would replace.
    public func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard scope.covers(request) else { return .unchanged }
        if let fault = scope.fault { return .refuse(OwnFault(fault)) }
        guard let token = token.withLock({ $0 }) else {
            return .refuse(AuthorisationError.reset)
        }
        var authorised = request
        apply(token, &authorised)
        authorised.keepCredentialOnThisMachine()
        return .use(authorised)
    }

    /// Puts another token in the place of the one before, also after a reset.
    ///
    /// Attempts that begin later have it. A byte that a header may not contain ends each load
    /// `.invalidRequest`.
    public func replaceToken(_ token: String) {
        self.token.withLock { $0 = AccessToken(token) }
    }

    /// Removes the token.
    public func reset() async {
        token.withLock { $0 = nil }
    }
}
