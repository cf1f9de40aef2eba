// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Gives tokens back to the server that has issued them (RFC 7009).
struct OAuthRevocation: Sendable {
    let server: OAuthServer
    let delegate: OAuthDelegateReference

    /// Revokes each of the credentials; the delegate is told of what was not revoked.
    ///
    /// Returns where the server answers, nil when that cannot be known.
    @discardableResult
    func revoke(_ credentials: [OAuthCredentials]) async -> OAuthEndpoints? {
        do {
            let endpoints = try await server.endpoints(within: server.patience)
            for credentials in credentials { await revoke(credentials, at: endpoints) }
            return endpoints
        } catch {
            delegate.couldNotRevokeCredentials(error)
            return nil
        }
    }

    /// Revokes what was found after a log out, in a task that nobody has cancelled.
    func begin(_ credentials: OAuthCredentials) {
        server.beginBeforeTheEnd { await revoke([credentials]) }
    }

    private func revoke(_ credentials: OAuthCredentials, at endpoints: OAuthEndpoints) async {
        // Section 2.1: with the refresh token goes whatever was issued for it.
        if let token = credentials.refreshToken {
            await revoke(token, "refresh_token", at: endpoints)
        }
        await revoke(credentials.accessToken, "access_token", at: endpoints)
    }

    private func revoke(_ token: String, _ hint: String, at endpoints: OAuthEndpoints) async {
        do {
            try await server.revoke(token, hint: hint, at: endpoints)
        } catch {
            delegate.couldNotRevokeCredentials(error)
        }
    }
}
