// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
package import DataLoadingSupport
public import DataLoading

/// Adds a user name and a password by Basic authentication (RFC 7617).
///
/// ```swift
/// let authoriser = BasicAuthoriser(hosts: ["api.example.com"]) { refused in
///     try await askForPassword(insteadOf: refused)
/// }
/// ```
///
/// A request's own `BasicCredentials` take precedence over stored ones, and keep its load from the
/// cache. Without either the authoriser calls `fetch`, once for all loads that wait for the result.
/// A TRACE request gets no credentials.
///
/// When a server refuses stored credentials with a 401, the authoriser calls `fetch` with them, and
/// retries the load with the new ones. The refused credentials stay in use while `fetch` takes
/// longer than 30 seconds, and when it returns nil or the same: the refusal may concern one
/// resource only. In the latter case `fetch` is not called again for 30 seconds, and a 401 is
/// delivered. A 401 is also delivered without a `fetch`, and for a request's own credentials. A 403
/// is delivered. A sixth call within 30 seconds is refused: `AuthorisationError.tooManyRefreshes`.
///
/// User information in a URL is not read: a load with such a URL ends `.invalidRequest`.
public final class BasicAuthoriser: CredentialAuthoriser {
    /// A name for logs.
    public let identifier: String
    /// The method that a request must name; nil for every request.
    public let method: AuthenticationMethod?
    /// True: it adds what it has, and fetches the rest in a task.
    public let isNonblocking = true
    let scope: HostScope
    let credentials: CredentialProvider<BasicCredentials>
    private let fetches: Bool

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - hosts: The hosts that may receive stored credentials, matched exactly and without regard
    ///     to case. A name or an address means the scheme's default port, "api.example.com:8443"
    ///     that port, "localhost:*" any port. Subdomains and other hosts are sent the request
    ///     without credentials, unless it has its own. Malformed hosts, or none, end each load
    ///     without credentials of its own `.invalidConfiguration`.
    ///   - allowsPlainLoopback: Whether `http` to 127.0.0.1, ::1 and localhost may receive
    ///     credentials, for development; by default only `https` may.
    ///   - method: The method that a request must name; nil, the default, for every request.
    ///   - credentials: The credentials stored from the start.
    ///   - fetch: Gets credentials from a person, a keychain or a file, or returns nil when there
    ///     are none. Its argument is what a server has refused, or nil. A nil result
    ///     or a thrown error ends the waiting loads `.cannotAuthenticate`, unless there are
    ///     credentials that a server has refused. Called in a task of its own, one call at a time.
    ///     It has no time limit: the loads have their deadlines, and the result is stored for the
    ///     next load. A reset cancels the task and drops its result.
    public convenience init(
        identifier: String = "basic", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        method: AuthenticationMethod? = nil, credentials: BasicCredentials? = nil,
        fetch: (@Sendable (BasicCredentials?) async throws -> BasicCredentials?)? = nil
    ) {
        self.init(
            identifier: identifier, hosts: hosts, allowsPlainLoopback: allowsPlainLoopback,
            method: method, credentials: credentials, timekeeper: SystemTimekeeper(),
            fetch: fetch)
    }

    /// Makes an authoriser on a test's clock.
    package init(
        identifier: String = "basic", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        method: AuthenticationMethod? = nil, credentials: BasicCredentials? = nil,
        timekeeper: any Timekeeper,
        fetch: (@Sendable (BasicCredentials?) async throws -> BasicCredentials?)? = nil
    ) {
        self.identifier = identifier
        self.method = method
        scope = HostScope(hosts, allowsPlainLoopback: allowsPlainLoopback)
        fetches = fetch != nil
        var rules = CredentialRules()
        rules.cancelsAfterTimeout = false
        rules.backOff = nil
        self.credentials = CredentialProvider(
            rules, first: credentials, timerQueue: TimerQueue(timekeeper: timekeeper),
            apply: { $1.headers["Authorization"] = $0.fieldValue },
            source: { refused, _ in
                guard let given = try await fetch?(refused), given != refused else {
                    throw AuthorisationError.noCredentials
                }
                return Fetched(given, lifetime: nil)
            })
    }

    /// Adds the request's own credentials over https, or the stored ones for the hosts.
    ///
    /// Answers at once, or when `fetch` has returned.
    public func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard let own = request[option: BasicCredentials.self] else {
            return authoriseByScope(request)
        }
        guard scope.isSafe(request) else { return .unchanged }
        var authorised = request
        authorised.headers["Authorization"] = own.fieldValue
        authorised.keepCredentialOnThisMachine()
        return .use(authorised)
    }

    /// Returns whether the authoriser may get other credentials than the refused stored ones.
    public func recover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool {
        // The refusal may be one resource's or temporary; without others these credentials stay in
        // use.
        guard request[option: BasicCredentials.self] == nil, fetches else { return false }
        return credentials.refused(request, by: self)
    }
}
