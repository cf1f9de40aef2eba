// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Adds an OAuth 2 access token: gets one, renews it, and gives it back at a log out.
///
/// ```swift
/// let configuration = OAuthConfiguration(
///     server: .issuer(issuer), flow: .deviceCode, clientIdentifier: "feeds",
///     hosts: ["api.example.com"])
/// let authoriser = OAuthAuthoriser(
///     configuration, service: service, store: FileCredentialStore(file: file),
///     delegate: console)
/// ```
///
/// Credentials that the store has are used; expired ones are refreshed; without any the flow of the
/// configuration begins, and its one login serves every load that waits. What `TokenAuthoriser` says
/// of fetches holds here too, but for the limit of 30 seconds: each request to the server has that,
/// and a person may take longer.
///
/// A token that one resource does not take serves the others while a person is asked for another one,
/// or a refresh takes more than 30 seconds; the loads that it was refused for wait.
///
/// New credentials are kept before a load sees them. A refresh that is under way is given up by a
/// reset and the service's end alone, whichever loads are cancelled: the server may have replaced the
/// refresh token already. Processes that share a store which locks refresh once between them; a first
/// login by a person is each process's own.
///
/// `reset` logs out: the store is emptied first, then the server is asked to revoke the tokens,
/// whether it can be reached or not, then it returns, and the delegate is shown the page that ends the
/// session.
public final class OAuthAuthoriser: Authoriser {
    /// A name for logs.
    public let identifier: String
    private let scope: HostScope
    private let machine: OAuthMachine
    private let delegate: OAuthDelegateReference
    private let owner = OAuthOwner()
    private let desk: CredentialDesk<OAuthCredentials>

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - configuration: What to get, where, and who may see it.
    ///   - service: Carries the requests to the authorization server, within its limits and past all
    ///     authorisers.
    ///   - store: Keeps the credentials; by default until the process ends.
    ///   - delegate: Shows pages and codes, and hears of a store that fails; held weakly. Client
    ///     credentials need none.
    public init(
        _ configuration: OAuthConfiguration, service: DataLoaderService,
        store: any OAuthCredentialStore = MemoryCredentialStore(),
        delegate: (any OAuthDelegate)? = nil
    ) {
        identifier = configuration.identifier
        scope = HostScope(
            configuration.hosts, allowsPlainLoopback: configuration.allowsPlainLoopback)
        let delegate = OAuthDelegateReference(delegate)
        self.delegate = delegate
        let server = OAuthServer(configuration, service: service)
        let machine = OAuthMachine(
            server: server,
            vault: OAuthVault(store, server: server, delegate: delegate),
            delegate: delegate, owner: owner)
        self.machine = machine
        var rules = CredentialRules()
        rules.limit = nil
        rules.endsCredential = { configuration.endsRefreshToken($0) }
        desk = CredentialDesk(
            rules, agenda: server.agenda, random: server.random,
            apply: { $1.addBearer($0.accessToken) },
            fetch: { previous, say in
                let (credentials, end) = try await machine.run(after: previous, say)
                return Fetched(credentials, lifetime: end.map { $0 - server.agenda.now })
            })
    }

    /// Throws `.invalidConfiguration` when a host is malformed or there is none; for a program's start.
    public func validate() throws(DataLoaderError) {
        if let malformedPart { throw malformedPart }
    }

    /// Whether the request goes to one of the hosts, safely, and has no `Authorization` of its own.
    public func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        scope.covers(request)
    }

    /// Answers with the token: at once, or when there is one.
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

    /// Lets the load go; what it waited for goes on.
    public func cancelAuthorisation(of request: DataLoaderRequest) {
        desk.cancel(request)
    }

    /// Returns once there are credentials: those that are here, or kept, or that a login brings.
    ///
    /// For a program that begins with a login; a load has 60 seconds, and a person takes longer. There
    /// is no time limit. A cancelled task waits no more, while the login goes on.
    ///
    /// - Throws: `AuthorisationError`, what the delegate has thrown, or `CancellationError`.
    public func logIn() async throws {
        try await desk.ready()
    }

    /// Refreshes the token, or logs in; loads that come meanwhile wait for it, but while a person is
    /// asked, and after 30 seconds, have the token that lasts.
    public func refresh() {
        desk.refresh()
    }

    /// Logs out, as said above; returns when the server has answered, or could not be reached.
    public func reset() async {
        let page = Locked<URL?>(nil)
        await desk.reset { last in
            // Begun, it is seen through: whoever is cancelled here may not be the only one who waits.
            let last = await Task { [machine] in await machine.logOut(last) }.value
            page.withLock { $0 = last }
        }
        // Nobody waits for a person who looks at it.
        if let page = page.withLock({ $0 }) { Task { await delegate.logOut(at: page) } }
    }
}

extension OAuthAuthoriser: Validatable {
    var malformedPart: DataLoaderError? { scope.fault }
}
