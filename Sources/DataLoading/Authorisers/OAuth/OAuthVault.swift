// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Credentials in a store, one at a time: what one process reads, renews and writes no other touches.
final class OAuthVault: Sendable {
    /// What the store has, seen from what this process knows.
    enum Stored: Sendable {
        /// What it had before. The newest of this process may be another: when it was not written.
        case unchanged(newest: OAuthCredentials?)
        /// Another process has written these.
        case replaced(OAuthCredentials)
        /// Another process has deleted what there was.
        case deleted
    }

    /// Counts log-outs: what was begun before one is not kept after it.
    struct Epoch: Equatable, Sendable {
        fileprivate var number = 0
    }

    private struct Known: Sendable {
        var epoch = Epoch()
        /// What was read or written last.
        var stored: OAuthCredentials?
        /// The newest, written or not.
        var newest: OAuthCredentials?
        /// What is not to be used again, though it may not have been deleted.
        var disowned: OAuthCredentials?
    }

    private let store: any OAuthCredentialStore
    private let server: OAuthServer
    private let delegate: OAuthDelegateReference
    private let gate = SerialGate()
    private let known = Locked(Known())

    /// Makes a vault for credentials of one server.
    init(
        _ store: any OAuthCredentialStore, server: OAuthServer, delegate: OAuthDelegateReference
    ) {
        self.store = store
        self.server = server
        self.delegate = delegate
    }

    /// The time between two log-outs that it is now.
    var epoch: Epoch { known.withLock { $0.epoch } }

    /// Looks what the store has now.
    func look() async throws -> Stored {
        try await gate.run { try await read() }
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
                try await body(try await self.read(), Exclusive(vault: self))
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
                return try await store.withLock { await self.delete(epoch) }
            } catch {
                // Another process has it, and does not let go: what is here goes all the same.
                delegate.couldNotKeepCredentials(error)
                return await delete(epoch)
            }
        }
    }

    private func delete(_ epoch: Epoch) async -> OAuthCredentials? {
        let stored = try? await load()
        known.withLock { if let stored { $0.newest = stored } }
        await save(nil, of: epoch)
        return stored ?? nil
    }

    private func read() async throws -> Stored {
        let read = try await load()
        let server = server.configuration.server.name
        return known.withLock { known in
            let isOurs = read.map { $0.server == nil || $0.server == server } ?? false
            let isUsable = isOurs && !(read?.hasTokens(of: known.disowned) ?? false)
            let stored = isUsable ? read : nil
            let isUnchanged = stored.map { $0.hasTokens(of: known.stored) } ?? (known.stored == nil)
            guard !isUnchanged else { return .unchanged(newest: known.newest) }
            known.stored = stored
            known.newest = stored
            return stored.map { .replaced($0) } ?? .deleted
        }
    }

    /// Reads the store, which may ask a person or a disk that is not there.
    private func load() async throws -> OAuthCredentials? {
        let read: OAuthCredentials??
        do {
            read = try await server.agenda.within(.seconds(30)) { try await self.store.load() }
        } catch {
            throw error as? AuthorisationError ?? .store(reason: "cannot be read")
        }
        guard let read else { throw AuthorisationError.store(reason: "no answer in 30 seconds") }
        return read
    }

    private func save(_ credentials: OAuthCredentials?, of epoch: Epoch) async {
        let isCurrent = known.withLock { known in
            guard epoch == known.epoch else { return false }
            if credentials == nil {
                known.disowned = known.newest
                known.stored = nil
            }
            known.newest = credentials
            return true
        }
        guard isCurrent else { return }
        do {
            try await store.save(credentials)
            known.withLock { known in
                known.stored = credentials
                known.disowned = nil
            }
        } catch {
            delegate.couldNotKeepCredentials(error)
        }
    }
}
