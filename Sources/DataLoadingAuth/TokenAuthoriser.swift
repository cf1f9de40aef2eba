// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
package import DataLoadingSupport
public import DataLoading

/// Adds a token that is fetched when needed, and renewed before it expires.
///
/// ```swift
/// let authoriser = TokenAuthoriser(hosts: ["api.example.com"]) { _ in
///     let reply = try await logIn()
///     return AccessToken(reply.token, lifetime: .seconds(reply.expiresIn))
/// }
/// ```
///
/// One fetch runs for any number of loads. They wait for it in order of arrival, and a cancelled
/// one is never sent. When a server refuses a token, the loads that were sent with it cause one
/// fetch. Loads that were sent with an older token are sent again with the present one.
///
/// - A token is renewed during its use when a tenth of its lifetime is left, at most 60 seconds.
///   The lifetime counts from receipt, on a monotonic clock.
/// - A fetch has a limit of 30 seconds. After a failed one, loads fail at once with its error for a
///   second, then for a jittered 2.7, 7.4 and so on up to 60 seconds. A token that has not expired
///   is used during that time.
/// - A sixth fetch within 30 seconds is refused: `AuthorisationError.tooManyRefreshes`. After five
///   tokens in a row that had expired when they came, fetches pause as after failed ones.
/// - A refused token that has not expired stays in use when another one cannot be fetched: the
///   refusal may concern one resource only. After `.refused(code: "invalid_grant")` it does not
///   stay in use.
/// - Four refused tokens are replaced at once. Further ones stay in use for a pause before they are
///   replaced, and a 401 is delivered: a second, then a jittered 2.7, 7.4 and so on up to ten
///   minutes. Ten minutes without a refusal end this.
///
/// It writes nothing to disk; `fetch` may. A TRACE request is sent without the token.
public final class TokenAuthoriser: CredentialAuthoriser {
    /// A name for logs; never the token.
    public let identifier: String
    /// The method that a request must name; nil for every request.
    public let method: AuthenticationMethod?
    /// Whether `apply` is the default.
    public let isNonblocking: Bool
    let scope: HostScope
    let credentials: CredentialProvider<AccessToken>

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - hosts: The hosts that may receive the token, matched exactly and without regard to case.
    ///     A name or an address means the scheme's default port, "api.example.com:8443" that port,
    ///     "localhost:*" any port. Subdomains and other hosts are sent the request without it.
    ///     Malformed hosts, or none, end each load `.invalidConfiguration`.
    ///   - allowsPlainLoopback: Whether `http` to 127.0.0.1, ::1 and localhost may receive it, for
    ///     development; by default only `https` may.
    ///   - method: The method that a request must name; nil, the default, for every request.
    ///   - apply: Adds the token to a request; by default to `Authorization` (RFC 6750), unless the
    ///     request has such a field. Called for each attempt, on the queue of the load's factory.
    ///     After a wait for a fetch, Apple systems before macOS 15 and iOS 18 call it on any
    ///     thread.
    ///   - fetch: Gets a token. Its argument is the last token, to renew it where possible. When
    ///     that token is invalid, throw `AuthorisationError.refused(code: "invalid_grant")`, and
    ///     the next call gets nil. Called from a task of its own, which is cancelled after 30
    ///     seconds and by a reset. It must load through another factory than the one whose requests
    ///     it authorises; otherwise it waits for itself.
    public convenience init(
        identifier: String = "token", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        method: AuthenticationMethod? = nil,
        apply: (@Sendable (AccessToken, inout DataLoaderRequest) -> Void)? = nil,
        fetch: @escaping @Sendable (AccessToken?) async throws -> AccessToken
    ) {
        self.init(
            identifier: identifier, hosts: hosts, allowsPlainLoopback: allowsPlainLoopback,
            method: method, timekeeper: SystemTimekeeper(), random: .system, apply: apply,
            fetch: fetch)
    }

    /// Makes an authoriser on a test's clock and randomness.
    package init(
        identifier: String = "token", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        method: AuthenticationMethod? = nil, timekeeper: any Timekeeper, random: RandomSource,
        apply: (@Sendable (AccessToken, inout DataLoaderRequest) -> Void)? = nil,
        fetch: @escaping @Sendable (AccessToken?) async throws -> AccessToken
    ) {
        self.identifier = identifier
        self.method = method
        isNonblocking = apply == nil
        scope = HostScope(
            hosts, allowsPlainLoopback: allowsPlainLoopback, sparesOwn: apply == nil)
        credentials = CredentialProvider(
            CredentialRules(), timerQueue: TimerQueue(timekeeper: timekeeper), random: random,
            apply: apply ?? { $1.addBearer($0.value) },
            source: { previous, _ in
                let token = try await fetch(previous)
                return Fetched(token, lifetime: token.lifetime)
            })
    }
}
