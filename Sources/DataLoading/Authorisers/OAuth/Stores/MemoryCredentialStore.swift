// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Keeps OAuth credentials for as long as the process lives.
public final class MemoryCredentialStore: OAuthCredentialStore {
    private let credentials: Locked<OAuthCredentials?>

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
}
