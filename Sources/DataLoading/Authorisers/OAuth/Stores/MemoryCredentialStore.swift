// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Keeps OAuth credentials for as long as the process lives.
public final class MemoryCredentialStore: OAuthCredentialStore {
    private let credentials: Locked<OAuthCredentials?>
    private let gate = SerialGate()

    /// Makes a store.
    public init(_ credentials: OAuthCredentials? = nil) {
        self.credentials = Locked(credentials)
    }

    /// Returns what is kept.
    public func load() async -> OAuthCredentials? {
        credentials.withLock { $0 }
    }

    /// Replaces what is kept; nil forgets it.
    public func save(_ credentials: OAuthCredentials?) async {
        self.credentials.withLock { $0 = credentials }
    }

    /// Runs `body` while no other authoriser that shares the store does.
    public func withLock<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await gate.run(body)
    }
}
