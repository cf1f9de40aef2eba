// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Adds a token that is fetched when it is needed, and again before it expires.
///
/// ```swift
/// let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
///     let reply = try await logIn()
///     return AccessToken(reply.token, lifetime: .seconds(reply.expiresIn))
/// }
/// ```
///
/// However many loads want a token, one fetch is under way: they wait for it in their order, and one
/// that is cancelled is never sent. When a server refuses a token, the loads that were sent with it
/// fetch a new one once, and those sent with an older one are sent again with what is there.
///
/// - A token is renewed beside its use when a tenth of its life is left, at most 60 seconds; its
///   life is counted from its receipt, on a clock that nobody sets.
/// - A fetch has 30 seconds. After a failed one, loads fail at once with its error for a second, then
///   for a jittered 2.7, 7.4 and so on up to a minute; a token that still lasts is used meanwhile.
/// - A sixth fetch within 30 seconds is refused: `AuthorisationError.tooManyRefreshes`.
/// - A token that lasts is used though a server did not take it, when another one cannot be fetched: the
///   refusal may be one resource's own. It is not after `AuthorisationError.refused(code: "invalid_grant")`.
///
/// It keeps nothing on a disk; `fetch` may. A TRACE request goes without the token.
public final class TokenAuthoriser: Authoriser {
    /// A name for logs; never the token.
    public let identifier: String
    private let scope: HostScope
    private let desk: CredentialDesk<AccessToken>

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - hosts: The hosts that may see the token, each for itself: a name as in
    ///     a URL, without regard to case, or an address, which means the scheme's own port;
    ///     "api.example.com:8443" means that port, and "localhost:*" any. Other hosts,
    ///     also those below one, are asked without. Malformed hosts, and none at all, end each load
    ///     `.invalidConfiguration`.
    ///   - allowsPlainLoopback: Whether `http` to 127.0.0.1, ::1 and localhost may see it, for
    ///     development; otherwise, and by default, only `https` does.
    ///   - apply: Adds the token to a request; by default as RFC 6750 has it, in `Authorization`,
    ///     unless the request has such a field. Called for each attempt, on any thread.
    ///   - fetch: Gets a token. It is handed the last one, to renew it where that can be done; throw
    ///     `AuthorisationError.refused(code: "invalid_grant")` when it is good for nothing any more,
    ///     and the next call is handed nil. Called from a task of its own, which is cancelled after
    ///     30 seconds and by a reset. It must load through another factory than the one whose
    ///     requests it authorises, or it would wait for itself.
    public convenience init(
        identifier: String = "token", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        apply: (@Sendable (AccessToken, inout DataLoaderRequest) -> Void)? = nil,
        fetch: @escaping @Sendable (AccessToken?) async throws -> AccessToken
    ) {
        self.init(
            identifier: identifier, hosts: hosts, allowsPlainLoopback: allowsPlainLoopback,
            timekeeper: SystemTimekeeper(), random: .system, apply: apply, fetch: fetch)
    }

    /// Makes an authoriser whose time and chance are a test's.
    package init(
        identifier: String = "token", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        timekeeper: any Timekeeper, random: RandomSource,
        apply: (@Sendable (AccessToken, inout DataLoaderRequest) -> Void)? = nil,
        fetch: @escaping @Sendable (AccessToken?) async throws -> AccessToken
    ) {
        self.identifier = identifier
        scope = HostScope(
            hosts, allowsPlainLoopback: allowsPlainLoopback, sparesOwn: apply == nil)
        desk = CredentialDesk(
            CredentialRules(), agenda: Agenda(timekeeper: timekeeper), random: random,
            apply: apply ?? { $1.addBearer($0.value) },
            fetch: { previous, _ in
                let token = try await fetch(previous)
                return Fetched(token, lifetime: token.lifetime)
            })
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

    /// Answers with the token: at once, or when it was fetched.
    public func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        if let fault = scope.fault {
            return delegate.authoriser(self, didFailToAuthorise: request, error: OwnFault(fault))
        }
        desk.authorise(request, by: self, for: delegate)
    }

    /// False when the server says that the token is good and its scope is not (RFC 6750 section 3.1).
    public func canRecover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool {
        !AuthenticationChallenge.isAboutScope(response.headers)
    }

    /// Has another token fetched; that which the request was sent with is used only where no other can
    /// be had.
    public func requestFailedAuthorisation(
        _ request: DataLoaderRequest, response: DataLoaderResponse
    ) {
        desk.refusedToken(of: request, response, by: self)
    }

    /// Lets the load go; the fetch that it waited for goes on.
    public func cancelAuthorisation(of request: DataLoaderRequest) {
        desk.cancel(request)
    }

    /// Fetches a new token; loads that come meanwhile wait for it.
    public func refresh() {
        desk.refresh()
    }

    /// Forgets the token, cancels the fetch, and fails whoever waits for it.
    public func reset() async {
        await desk.reset()
    }
}

extension TokenAuthoriser: Validatable {
    var malformedPart: DataLoaderError? { scope.fault }
}
