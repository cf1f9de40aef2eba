// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Walks from state to state until there are credentials; the application is asked on the way.
struct OAuthMachine: Sendable {
    let server: OAuthServer
    let vault: OAuthVault
    let delegate: OAuthDelegateReference
    weak let owner: OAuthOwner?

    private var configuration: OAuthConfiguration { server.configuration }
    /// Gives back what came after a log out.
    private var revocation: OAuthRevocation { OAuthRevocation(server: server, delegate: delegate) }

    /// Returns credentials that can be used, and were kept, in the place of spent ones, and until when
    /// they last; says what becomes of those meanwhile.
    func run(
        after spent: OAuthCredentials?, _ say: @Sendable (FlightSign) -> Void
    ) async throws -> (OAuthCredentials, until: Instant?) {
        var state = OAuthState.saved(spent: spent)
        let epoch = vault.epoch
        while true {
            // A reset has cancelled the task: nothing is asked and nothing kept any more.
            try Task.checkCancellation()
            switch state {
            case .saved(let spent): state = successor(of: spent, in: try await vault.look())
            case .logIn(let isOver):
                if isOver { say(.endsDoubted) }
                if configuration.flow != .clientCredentials { say(.takesLong) }
                state = try await logIn(epoch)
            case .exchange(let grant):
                state = try await server.beforeTheEnd { try await exchange(grant, epoch) }
            case .refresh(let credentials):
                state = try await server.beforeTheEnd { try await refresh(credentials, epoch) }
            case .done(let credentials, let end): return (credentials, end)
            }
        }
    }

    /// What is there is used while it lasts, and refreshed when it has expired or is spent; without
    /// anything a login begins.
    private func successor(
        of spent: OAuthCredentials?, in stored: OAuthVault.Stored
    ) -> OAuthState {
        let credentials: OAuthCredentials
        switch stored {
        case .deleted, .unchanged(nil): return .logIn(isOver: true)
        case .replaced(let newer): credentials = newer
        case .unchanged(let newest?): credentials = newest
        }
        let remaining = credentials.remaining(at: server.timekeeper.date)
        if !credentials.hasTokens(of: spent), remaining.map({ $0 > .zero }) ?? true {
            return .done(credentials, until: remaining.map { server.agenda.now + $0 })
        }
        return credentials.refreshToken == nil ? .logIn(isOver: false) : .refresh(credentials)
    }

    private func logIn(_ epoch: OAuthVault.Epoch) async throws -> OAuthState {
        switch configuration.flow {
        case .clientCredentials:
            return try await speakForItself(epoch)
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
            return try await polling.state(after: code) { await kept($0, epoch) }
        }
    }

    /// Gets a token for the program itself, in one process at a time.
    ///
    /// Each looks first whether another one has got one.
    private func speakForItself(_ epoch: OAuthVault.Epoch) async throws -> OAuthState {
        if case .none = configuration.clientAuthentication {
            throw AuthorisationError.invalidConfiguration(
                reason: "client credentials without a secret")
        }
        _ = try await server.endpoints()
        return try await vault.exclusively { stored, store throws -> OAuthState in
            if case .replaced = stored,
                case .done(let newer, let end) = successor(of: nil, in: stored)
            {
                return .done(newer, until: end)
            }
            let credentials = try await server.credentials(
                for: .client(scope: configuration.scope))
            let end = self.end(of: credentials)
            if await !store.save(credentials, of: epoch) { revocation.begin(credentials) }
            return .done(credentials, until: end)
        }
    }

    /// Trades a grant for credentials.
    private func exchange(
        _ grant: TokenGrant, _ epoch: OAuthVault.Epoch
    ) async throws -> OAuthState {
        await kept(try await server.credentials(for: grant), epoch)
    }

    private func kept(
        _ credentials: OAuthCredentials, _ epoch: OAuthVault.Epoch
    ) async -> OAuthState {
        let end = end(of: credentials)
        if await !vault.keep(credentials, of: epoch) { revocation.begin(credentials) }
        return .done(credentials, until: end)
    }

    /// When credentials expire that were received just now, on a clock that nobody sets.
    private func end(of credentials: OAuthCredentials) -> Instant? {
        credentials.lifetime.map { server.agenda.now + $0 }
    }

    /// Trades the refresh token, in one process at a time.
    ///
    /// Each looks first whether another one has done it.
    private func refresh(
        _ credentials: OAuthCredentials, _ epoch: OAuthVault.Epoch
    ) async throws -> OAuthState {
        // Others wait for the lock no longer than a question takes.
        _ = try await server.endpoints()
        return try await vault.exclusively { stored, store throws -> OAuthState in
            let next = successor(of: credentials, in: stored)
            guard case .refresh(let current) = next, let token = current.refreshToken else {
                return next
            }
            do {
                let refreshed = try await server.credentials(
                    for: .refresh(token), previous: current)
                let end = self.end(of: refreshed)
                if await !store.save(refreshed, of: epoch) { revocation.begin(refreshed) }
                return .done(refreshed, until: end)
            } catch let error where configuration.endsRefreshToken(error) {
                await store.save(nil, of: epoch)
                if configuration.refusedRefresh == .startOver { return .logIn(isOver: true) }
                throw error
            }
        }
    }

    /// Gives the credentials back; the copy here goes first, whatever the server says.
    ///
    /// Returns the page that ends a person's session.
    func logOut(_ last: OAuthCredentials?) async -> URL? {
        var known = [last].compactMap(\.self)
        for other in await vault.forget() where !known.contains(where: other.hasTokens) {
            known.append(other)
        }
        guard !known.isEmpty, let endpoints = await revocation.revoke(known) else { return nil }
        return endpoints.endSession.flatMap { configuration.allows($0) ? $0 : nil }
    }
}
