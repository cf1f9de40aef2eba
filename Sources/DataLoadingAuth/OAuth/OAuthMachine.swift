// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// The state machine that gets OAuth credentials, with calls to store, server and delegate.
struct OAuthMachine: Sendable {
    let server: OAuthServer
    let storedCredentials: StoredCredentials
    let delegate: OAuthDelegateReference
    weak let owner: OAuthOwner?

    private var configuration: OAuthConfiguration { server.configuration }
    private var revocation: OAuthRevocation { OAuthRevocation(server: server, delegate: delegate) }

    /// Returns stored credentials that replace spent ones, and the instant at which they expire.
    ///
    /// `report` says how loads may use the spent credentials during the fetch.
    func run(
        after spent: OAuthCredentials?, _ report: @Sendable (FetchReport) -> Void
    ) async throws -> (OAuthCredentials, until: Instant?) {
        var state = OAuthState.saved(spent: spent)
        let epoch = storedCredentials.epoch
        while true {
            // A reset has cancelled the task: send and store nothing more.
            try Task.checkCancellation()
            switch state {
            case .saved(let spent):
                state = successor(of: spent, in: try await storedCredentials.read())
            case .logIn(let isOver):
                if isOver { report(.endsDoubted) }
                if configuration.flow.asksPerson { report(.takesLong) }
                state = try await logIn(epoch)
            case .exchange(let grant):
                state = try await server.delayingShutdown { try await exchange(grant, epoch) }
            case .refresh(let credentials):
                do {
                    state = try await server.delayingShutdown {
                        try await refresh(credentials, epoch)
                    }
                } catch let error where configuration.endsRefreshToken(error) {
                    report(.endsSeed)
                    throw error
                }
            case .done(let credentials, let end): return (credentials, end)
            }
        }
    }

    /// The state after reading the store.
    ///
    /// Valid credentials are used, and expired or spent ones refreshed. Without any, a login
    /// begins.
    private func successor(
        of spent: OAuthCredentials?, in stored: StoredCredentials.Comparison
    ) -> OAuthState {
        let credentials: OAuthCredentials
        switch stored {
        case .deleted, .unchanged(nil): return .logIn(isOver: true)
        case .replaced(let newer): credentials = newer
        case .unchanged(let newest?): credentials = newest
        }
        let remaining = credentials.remaining(at: server.timekeeper.date)
        if !credentials.hasTokens(of: spent), remaining.map({ $0 > .zero }) ?? true {
            return .done(credentials, until: remaining.map { server.timerQueue.now + $0 })
        }
        return credentials.refreshToken == nil ? .logIn(isOver: false) : .refresh(credentials)
    }

    private func logIn(_ epoch: StoredCredentials.Epoch) async throws -> OAuthState {
        switch configuration.flow {
        case .clientCredentials:
            if case .none = configuration.clientAuthentication {
                throw AuthorisationError.invalidConfiguration(
                    reason: "client credentials without a secret")
            }
            return try await requestClientCredentials(epoch) { _ in
                .client(scope: configuration.scope)
            }
        case .grant(let fields):
            return try await requestClientCredentials(epoch) { try await grant(fields, at: $0) }
        case .authorizationCode(let redirect):
            let page = try AuthorizationPage(
                configuration, try await server.endpoints(), redirect: redirect,
                using: server.random)
            guard let callback = try await delegate.logIn(at: page.url) else {
                throw AuthorisationError.noCredentials
            }
            let code = try page.code(from: callback)
            return .exchange(
                .code(code, redirect: redirect.absoluteString, verifier: page.verifier))
        case .deviceCode:
            let code = try await server.deviceCode()
            try await delegate.show(code)
            let polling = DevicePolling(server: server, owner: owner)
            return try await polling.state(after: code) { await stateAfterSaving($0, epoch) }
        }
    }

    /// Requests a token for the program itself, in one process at a time.
    ///
    /// Each process first checks whether another one has stored a token.
    private func requestClientCredentials(
        _ epoch: StoredCredentials.Epoch,
        with grant: @escaping @Sendable (OAuthEndpoints) async throws -> TokenGrant
    ) async throws -> OAuthState {
        let endpoints = try await server.endpoints()
        return try await storedCredentials.withExclusiveAccess(since: epoch) { stored in
            if case .replaced = stored,
                case .done(let newer, let end) = successor(of: nil, in: stored)
            {
                return (.done(newer, until: end), .none)
            }
            let credentials = try await server.credentials(for: try await grant(endpoints))
            return (.done(credentials, until: end(of: credentials)), .replacement(credentials))
        }
    }

    /// Calls the program's function that makes the grant of `.grant`.
    private func grant(
        _ fields: @escaping @Sendable (URL) async throws -> [(name: String, value: String)],
        at endpoints: OAuthEndpoints
    ) async throws -> TokenGrant {
        let fields = try await server.call { try await fields(endpoints.token) }
        return try TokenGrant(fields, scope: configuration.scope)
    }

    /// Exchanges a grant for credentials.
    private func exchange(
        _ grant: TokenGrant, _ epoch: StoredCredentials.Epoch
    ) async throws -> OAuthState {
        do {
            return await stateAfterSaving(try await server.credentials(for: grant), epoch)
        } catch {
            reportUnknownTokens()
            throw error
        }
    }

    /// Reports tokens that the server may have issued to a request which a log-out has ended.
    private func reportUnknownTokens() {
        if Task.isCancelled { delegate.couldNotRevokeCredentials(AuthorisationError.reset) }
    }

    private func stateAfterSaving(
        _ credentials: OAuthCredentials, _ epoch: StoredCredentials.Epoch
    ) async -> OAuthState {
        let end = end(of: credentials)
        await storedCredentials.save(credentials, since: epoch)
        return .done(credentials, until: end)
    }

    /// The expiry of credentials received just now, on a monotonic clock.
    private func end(of credentials: OAuthCredentials) -> Instant? {
        credentials.lifetime.map { server.timerQueue.now + $0 }
    }

    /// Exchanges the refresh token, in one process at a time.
    ///
    /// Each process first checks whether another one has refreshed.
    private func refresh(
        _ credentials: OAuthCredentials, _ epoch: StoredCredentials.Epoch
    ) async throws -> OAuthState {
        // Discovery comes before the lock, so that others wait for one request at most.
        _ = try await server.endpoints()
        let isSent = Locked(false)
        do {
            let next = try await storedCredentials.withExclusiveAccess(since: epoch) { stored in
                try await successor(afterRefreshing: credentials, in: stored) {
                    isSent.withLock { $0 = true }
                }
            }
            return try next.get()
        } catch {
            if isSent.withLock({ $0 }) { reportUnknownTokens() }
            throw error
        }
    }

    /// Refreshes the newest credentials, unless another process has; calls `onSending` before.
    private func successor(
        afterRefreshing credentials: OAuthCredentials, in stored: StoredCredentials.Comparison,
        onSending: () -> Void
    ) async throws -> (Result<OAuthState, any Error>, StoredCredentials.Change) {
        let next = successor(of: credentials, in: stored)
        guard case .refresh(let current) = next, let token = current.refreshToken else {
            return (.success(next), .none)
        }
        onSending()
        do {
            let refreshed = try await server.credentials(for: .refresh(token), previous: current)
            let end = end(of: refreshed)
            return (.success(.done(refreshed, until: end)), .replacement(refreshed))
        } catch let error where configuration.endsRefreshToken(error) {
            guard configuration.startsOverAfterRefusal else {
                return (.failure(error), .deletion)
            }
            return (.success(.logIn(isOver: true)), .deletion)
        }
    }

    /// Revokes the credentials; deletes the stored copy first, whatever the server answers.
    ///
    /// Returns the page that ends a person's session.
    func logOut(_ last: OAuthCredentials?) async -> URL? {
        var known = [last].compactMap(\.self)
        for other in await storedCredentials.clear() where !known.contains(where: other.hasTokens) {
            known.append(other)
        }
        guard !known.isEmpty, let endpoints = await revocation.revoke(known) else { return nil }
        return endpoints.endSession.flatMap { configuration.allows($0) ? $0 : nil }
    }
}
