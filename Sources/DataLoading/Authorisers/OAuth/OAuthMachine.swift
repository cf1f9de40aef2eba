// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Walks from state to state until there are credentials; the application is asked on the way.
struct OAuthMachine: Sendable {
    let server: OAuthServer
    let vault: OAuthVault
    let delegate: OAuthDelegateReference

    private var configuration: OAuthConfiguration { server.configuration }

    /// Returns credentials that can be used, and were kept, in the place of others.
    func run(after previous: OAuthCredentials?) async throws -> OAuthCredentials {
        var state = OAuthState.saved
        if let previous { state = previous.refreshToken == nil ? .logIn : .refresh(previous) }
        let epoch = vault.epoch
        while true {
            // A reset has cancelled the task: nothing is asked and nothing kept any more.
            try Task.checkCancellation()
            switch state {
            case .saved: state = try await saved()
            case .logIn: state = try await logIn(epoch)
            case .exchange(let grant): state = try await exchange(grant, epoch)
            case .refresh(let credentials): state = try await refresh(credentials, epoch)
            case .done(let credentials): return credentials
            }
        }
    }

    /// Credentials that last are used, expired ones refreshed; without any a login begins.
    private func saved() async throws -> OAuthState {
        guard let saved = try await vault.load() else { return .logIn }
        return next(after: saved)
    }

    private func next(after credentials: OAuthCredentials) -> OAuthState {
        if credentials.isUsable(at: server.timekeeper.date) { return .done(credentials) }
        return credentials.refreshToken == nil ? .logIn : .refresh(credentials)
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
            let credentials = try await DevicePolling(server: server).credentials(for: code)
            return await kept(credentials, epoch)
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
        return try await vault.exclusively { stored, store throws -> OAuthState in
            if case .replaced(let newer) = stored, newer.isUsable(at: server.timekeeper.date) {
                return .done(newer)
            }
            let credentials = try await server.credentials(
                for: .client(scope: configuration.scope))
            await store.save(credentials, of: epoch)
            return .done(credentials)
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
        await vault.keep(credentials, of: epoch)
        return .done(credentials)
    }

    /// Trades the refresh token, in one process at a time.
    ///
    /// Each looks first whether another one has done it.
    private func refresh(
        _ credentials: OAuthCredentials, _ epoch: OAuthVault.Epoch
    ) async throws -> OAuthState {
        try await vault.exclusively { stored, store throws -> OAuthState in
            let current: OAuthCredentials
            switch stored {
            case .unchanged: current = credentials
            case .replaced(let newer):
                guard case .refresh(let expired) = next(after: newer) else {
                    return next(after: newer)
                }
                current = expired
            }
            guard let token = current.refreshToken else { return .logIn }
            do {
                let refreshed = try await server.credentials(
                    for: .refresh(token), previous: current)
                await store.save(refreshed, of: epoch)
                return .done(refreshed)
            } catch let error as AuthorisationError where error.endsCredential {
                await store.save(nil, of: epoch)
                if configuration.refusedRefresh == .startOver { return .logIn }
                throw error
            }
        }
    }

    /// Gives the credentials back; the copy here goes first, whatever the server says.
    func logOut(_ last: OAuthCredentials?) async {
        let stored = await vault.forget()
        for credentials in Set([last, stored].compactMap(\.self)) {
            // Section 2.1 of RFC 7009: with the refresh token goes whatever was issued for it.
            if let token = credentials.refreshToken {
                try? await server.revoke(token, hint: "refresh_token")
            }
            try? await server.revoke(credentials.accessToken, hint: "access_token")
        }
        guard last != nil || stored != nil, let page = try? await server.endpoints().endSession
        else { return }
        await delegate.logOut(at: page)
    }
}
