// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Revokes tokens at the server that issued them (RFC 7009).
struct OAuthRevocation: Sendable {
    let server: OAuthServer
    let delegate: OAuthDelegateReference

    /// Revokes each of the credentials, and reports failures to the delegate.
    ///
    /// Returns the server's endpoints, nil when they cannot be fetched.
    @discardableResult
    func revoke(_ credentials: [OAuthCredentials]) async -> OAuthEndpoints? {
        do {
            let endpoints = try await server.endpoints(within: server.logoutTimeout)
            for credentials in credentials { await revoke(credentials, at: endpoints) }
            return endpoints
        } catch {
            delegate.couldNotRevokeCredentials(error)
            return nil
        }
    }

    /// Revokes credentials found after a log-out, in a task that no caller cancels.
    func begin(_ credentials: OAuthCredentials) {
        server.beginDelayingShutdown { await revoke([credentials]) }
    }

    private func revoke(_ credentials: OAuthCredentials, at endpoints: OAuthEndpoints) async {
        // Section 2.1: revoking the refresh token also revokes what was issued for it.
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
