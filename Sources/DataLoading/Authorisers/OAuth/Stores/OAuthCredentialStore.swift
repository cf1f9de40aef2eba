// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Where an application keeps OAuth credentials: a file, a keychain, a database.
public protocol OAuthCredentialStore: AnyObject, Sendable {
    /// Returns what is kept; nil when there is nothing. It has 30 seconds.
    func load() async throws -> OAuthCredentials?

    /// Keeps credentials in the place of those before; nil deletes them.
    ///
    /// When it returns they are safe: the server knows no refresh token but the newest. It is never
    /// cancelled. A log out waits two minutes for it, and loads to their deadlines.
    func save(_ credentials: OAuthCredentials?) async throws

    /// Runs `body` while no other process touches the store; by default it just runs it.
    ///
    /// A refresh happens inside, so that processes that share a store refresh once.
    func withLock<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result
}

extension OAuthCredentialStore {
    /// Runs `body`: for stores that one process alone uses.
    public func withLock<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await body()
    }
}
