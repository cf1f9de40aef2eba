// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A place where an application stores OAuth credentials: a file, a keychain, a database.
public protocol OAuthCredentialStore: AnyObject, Sendable {
    /// Returns the stored credentials; nil when there are none. The time limit is 30 seconds.
    func load() async throws -> OAuthCredentials?

    /// Reads the stored credentials, calls `body` once, and stores what it returns; nil deletes.
    ///
    /// No other process may update the store meanwhile. `body` refreshes the credentials, so that
    /// processes that share a store refresh once. A store that one process uses needs no lock: an
    /// authoriser makes one call at a time.
    ///
    /// When `body` throws, leave the store as it is and throw that error. When it returns what it
    /// was given, nothing needs to be written. Otherwise return once the new credentials are safe,
    /// because the server knows only the newest refresh token; loads wait until their deadlines.
    ///
    /// A store that loses its lock meanwhile waits for `body`, which has perhaps sent the refresh
    /// token, and then decides whether it is too late to store the result. Cancelling the task in
    /// which it calls `body` has no effect on it.
    ///
    /// `body` must be called within 90 seconds. The task is cancelled only before that. A log-out
    /// waits two minutes.
    func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws

    /// Does the same as `update` for a log-out, and deletes what cannot be read as credentials.
    ///
    /// `body` is then called with nil. The default calls `update`, which suits a store whose
    /// content cannot be damaged. A store that forwards `update` to another one forwards this call
    /// too.
    func updateForLogOut(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws
}

extension OAuthCredentialStore {
    /// Calls `update`.
    public func updateForLogOut(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        try await update(body)
    }
}
