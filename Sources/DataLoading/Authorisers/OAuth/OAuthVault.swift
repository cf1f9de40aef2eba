// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Credentials in a store, one at a time: what one process reads, renews and writes no other touches.
final class OAuthVault: Sendable {
    /// What has become of the credentials that this process knows.
    enum Stored: Sendable {
        case unchanged
        /// Another process has written these.
        case replaced(OAuthCredentials)
    }

    /// Counts log-outs: what was begun before one is not kept after it.
    struct Epoch: Equatable, Sendable {
        fileprivate var number = 0
    }

    private struct Known: Sendable {
        var epoch = Epoch()
        /// What was read or written last.
        var credentials: OAuthCredentials?
    }

    private let store: any OAuthCredentialStore
    private let delegate: OAuthDelegateReference
    private let gate = SerialGate()
    private let known = Locked(Known())

    init(_ store: any OAuthCredentialStore, delegate: OAuthDelegateReference) {
        self.store = store
        self.delegate = delegate
    }

    /// The time between two log-outs that it is now.
    var epoch: Epoch { known.withLock { $0.epoch } }

    /// What is kept; nil when there is nothing.
    func load() async throws -> OAuthCredentials? {
        try await gate.run {
            let stored = try await read()
            known.withLock { $0.credentials = stored }
            return stored
        }
    }

    /// Keeps credentials, of which there are none yet.
    func keep(_ credentials: OAuthCredentials, of epoch: Epoch) async {
        await gate.run {
            do {
                try await store.withLock { await self.save(credentials, of: epoch) }
            } catch {
                delegate.couldNotKeepCredentials(error)
            }
        }
    }

    /// Lets `body` have the store to itself, among all processes.
    func exclusively<Result: Sendable>(
        _ body: @escaping @Sendable (Stored, Exclusive) async throws -> Result
    ) async throws -> Result {
        try await gate.run {
            try await store.withLock {
                let stored = try await self.read()
                let isNew = self.known.withLock { known in
                    guard let stored, !stored.hasTokens(of: known.credentials) else { return false }
                    known.credentials = stored
                    return true
                }
                guard isNew, let stored else {
                    return try await body(.unchanged, Exclusive(vault: self))
                }
                return try await body(.replaced(stored), Exclusive(vault: self))
            }
        }
    }

    /// The right to write, while nobody else has it.
    struct Exclusive: Sendable {
        fileprivate let vault: OAuthVault

        /// Writes credentials, or deletes those that are there, unless there was a log-out since.
        func save(_ credentials: OAuthCredentials?, of epoch: Epoch) async {
            await vault.save(credentials, of: epoch)
        }
    }

    /// Deletes what is kept, and returns it, once whoever has the store is through.
    func forget() async -> OAuthCredentials? {
        let epoch = known.withLock { known in
            known.epoch.number += 1
            return known.epoch
        }
        return await gate.run {
            do {
                return try await store.withLock {
                    let stored = try? await self.store.load()
                    await self.save(nil, of: epoch)
                    return stored ?? nil
                }
            } catch {
                delegate.couldNotKeepCredentials(error)
                return nil
            }
        }
    }

    private func read() async throws -> OAuthCredentials? {
        do {
            return try await store.load()
        } catch {
            throw error as? AuthorisationError ?? .store(reason: "cannot be read")
        }
    }

    private func save(_ credentials: OAuthCredentials?, of epoch: Epoch) async {
        guard epoch == self.epoch else { return }
        do {
            try await store.save(credentials)
            known.withLock { $0.credentials = credentials }
        } catch {
            delegate.couldNotKeepCredentials(error)
        }
    }
}

extension OAuthCredentials {
    /// Whether these are others' tokens too; times lose a little where they are written.
    fileprivate func hasTokens(of other: OAuthCredentials?) -> Bool {
        accessToken == other?.accessToken && refreshToken == other?.refreshToken
    }
}
