// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
@testable import DataLoading
import Foundation
import Testing

/// A store that reads, and then writes what an update has changed, without a lock.
protocol PlainStore: OAuthCredentialStore {
    func write(_ credentials: OAuthCredentials?) async throws
}

extension PlainStore {
    func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        let present = try await load()
        let credentials = try await body(present)
        if credentials != present { try await write(credentials) }
    }
}

extension OAuthCredentialStore {
    /// Replaces whatever is stored.
    func save(_ credentials: OAuthCredentials?) async throws {
        try await update { _ in credentials }
    }

    /// Runs `body` within an update that changes nothing.
    func withLock(_ body: @Sendable () async throws -> Void) async throws {
        try await update { present in
            try await body()
            return present
        }
    }
}

extension MemoryCredentialStore {
    /// Replaces whatever is stored.
    func save(_ credentials: OAuthCredentials?) async {
        await update { _ in credentials }
    }
}
