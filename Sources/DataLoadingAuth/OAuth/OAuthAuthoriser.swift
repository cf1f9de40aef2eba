// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
public import DataLoading
import Foundation

/// Adds an OAuth 2 access token: gets one, renews it, and revokes it at a log-out.
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
/// Stored credentials are used, and refreshed when expired. Without any, the authoriser starts the
/// configuration's flow; one login serves all waiting loads. The rules of `TokenAuthoriser` for
/// fetches apply here too, except the limit of 30 seconds: each request to the server has that
/// limit, and a person may take longer.
///
/// While a person is asked, or a refresh takes more than 30 seconds, a token that one resource has
/// refused is still used for other loads. The loads that it was refused for wait.
///
/// New credentials are stored before a load gets them. Cancelling loads does not end a refresh;
/// only a reset or the service's end does, because the server may already have replaced the refresh
/// token. Processes that share a store refresh once between them. Each process needs its own first
/// login by a person.
///
/// Stored credentials of another server or client are neither used, replaced nor deleted: new ones
/// stay in memory, and the delegate is told that they could not be stored. Those that were
/// requested with other scopes or parameters are replaced.
///
/// `reset` logs out. It empties the store, then asks the server to revoke the tokens, whether or
/// not the server can be reached, and returns. The delegate is then shown the page that ends the
/// session.
public final class OAuthAuthoriser: CredentialAuthoriser {
    /// A name for logs.
    public let identifier: String
    /// The method that a request must name; nil for every request.
    public let method: AuthenticationMethod?
    /// True: it adds what it has, and fetches the rest in a task.
    public let isNonblocking = true
    let scope: HostScope
    private let machine: OAuthMachine
    private let delegate: OAuthDelegateReference
    private let owner = OAuthOwner()
    let credentials: CredentialProvider<OAuthCredentials>

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - configuration: The server, the flow, and the hosts that may receive the token.
    ///   - service: Sends the requests to the authorization server, within its limits and without
    ///     any authoriser.
    ///   - store: Stores the credentials; by default in memory until the process ends.
    ///   - delegate: Shows pages and codes, and is told when the store fails; held weakly. The flow
    ///     `.clientCredentials` needs none.
    public init(
        _ configuration: OAuthConfiguration, service: DataLoaderService,
        store: any OAuthCredentialStore = MemoryCredentialStore(),
        delegate: (any OAuthDelegate)? = nil
    ) {
        identifier = configuration.identifier
        method = configuration.method
        scope = HostScope(
            configuration.hosts, allowsPlainLoopback: configuration.allowsPlainLoopback)
        let delegate = OAuthDelegateReference(delegate)
        self.delegate = delegate
        let server = OAuthServer(configuration, service: service)
        let machine = OAuthMachine(
            server: server,
            storedCredentials: StoredCredentials(store, server: server, delegate: delegate),
            delegate: delegate, owner: owner)
        self.machine = machine
        var rules = CredentialRules()
        rules.cancelsAfterTimeout = false
        // The machine reports a refused refresh; a refused login says nothing about the token.
        rules.endsCredential = { _ in false }
        credentials = CredentialProvider(
            rules, timerQueue: server.timerQueue, random: server.random,
            apply: { $1.addBearer($0.accessToken) },
            source: { previous, report in
                let (credentials, end) = try await machine.run(after: previous, report)
                return Fetched(credentials, lifetime: end.map { $0 - server.timerQueue.now })
            })
    }

    /// Returns once there are credentials: present, stored, or from a login.
    ///
    /// For a program that begins with a login: a load has a deadline of 60 seconds by default, and
    /// a person may take longer. This call has no time limit. A cancelled task stops waiting, but
    /// the login continues.
    ///
    /// - Throws: `AuthorisationError`, the delegate's error, or `CancellationError`.
    public func logIn() async throws {
        do {
            _ = try await credentials.credential()
        } catch let fault as OwnFault {
            throw fault.error
        }
    }

    /// Logs out as described above; returns when the server has answered, or could not be reached.
    public func reset() async {
        let page = Locked<URL?>(nil)
        await credentials.reset { last in
            // A separate task: cancelling this one must not stop a log-out that others wait for
            // too.
            let last = await Task { [machine] in await machine.logOut(last) }.value
            page.withLock { $0 = last }
        }
        // In a task, because the log-out does not wait for the person who looks at the page.
        if let page = page.withLock({ $0 }) { Task { await delegate.logOut(at: page) } }
    }
}
