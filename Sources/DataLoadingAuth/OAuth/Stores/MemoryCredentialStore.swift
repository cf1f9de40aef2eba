// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Stores OAuth credentials in memory, until the process ends.
public final class MemoryCredentialStore: OAuthCredentialStore {
    private let credentials: Locked<OAuthCredentials?>
    private let gate = SerialGate()

    /// Makes a store, optionally with credentials.
    public init(_ credentials: OAuthCredentials? = nil) {
        self.credentials = Locked(credentials)
    }

    /// Returns the stored credentials.
    public func load() async -> OAuthCredentials? {
        credentials.withLock { $0 }
    }

    /// Replaces the stored credentials by what `body` returns for them; nil removes them.
    public func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async rethrows {
        try await gate.run {
            let new = try await body(credentials.withLock { $0 })
            credentials.withLock { $0 = new }
        }
    }
}
