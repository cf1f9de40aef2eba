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

    private let store: any OAuthCredentialStore
    private let server: OAuthServer
    private let delegate: OAuthDelegateReference
    private let revocation: OAuthRevocation
    private let gate = SerialGate()
    private let known = Locked(Known())
    private let rewriting = Locked<Task<Void, any Error>?>(nil)

    /// How long the store may take to be read.
    private static let patience = Duration.seconds(30)
    /// How long a log out waits: a file's lock has 60 s, and reading 30 s.
    private static let patienceOfLogOut = Duration.seconds(120)
    private static let noAnswer = AuthorisationError.store(reason: "no answer in 30 seconds")

    /// Makes a vault for credentials of one server.
    init(
        _ store: any OAuthCredentialStore, server: OAuthServer, delegate: OAuthDelegateReference
    ) {
        self.store = store
        self.server = server
        self.delegate = delegate
        revocation = OAuthRevocation(server: server, delegate: delegate)
    }

    deinit {
        rewriting.withLock { $0?.cancel() }
    }

    /// The time between two log-outs that it is now.
    var epoch: Epoch { known.withLock { $0.epoch } }

    /// Looks what the store has now.
    func look() async throws -> Stored {
        try await gate.run { try await read() }
    }

    /// Keeps credentials, of which there are none yet; false when there was a log out since.
    func keep(_ credentials: OAuthCredentials, of epoch: Epoch) async -> Bool {
        await gate.run {
            do {
                return try await store.withLock { await self.save(credentials, of: epoch) }
            } catch {
                let isCurrent = known.withLock { $0.note(credentials, of: epoch) }
                if isCurrent { couldNotKeep(credentials, of: epoch, error) }
                return isCurrent
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

        /// Writes credentials, or deletes those that are there; false when there was a log-out since.
        @discardableResult
        func save(_ credentials: OAuthCredentials?, of epoch: Epoch) async -> Bool {
            await vault.save(credentials, of: epoch)
        }
    }

    /// Deletes what is kept, and returns it, once whoever has the store is through: what the store
    /// had of this server's, and what was not written.
    func forget() async -> [OAuthCredentials] {
        let (epoch, newest) = known.withLock { known in
            known.epoch.number += 1
            return (known.epoch, known.newest)
        }
        rewriting.withLock { $0?.cancel() }
        // Where the store does not come back it is seen through when it does, before anything else.
        let deletion = Task { await self.gate.run { await self.deleteAlone(epoch) } }
        let deleted = try? await server.agenda.within(Self.patienceOfLogOut) {
            await deletion.value
        }
        if let deleted { return deleted }
        delegate.couldNotKeepCredentials(
            AuthorisationError.store(reason: "no answer in 120 seconds"))
        let known = [newest].compactMap(\.self)
        Task { [revocation] in
            for late in await deletion.value where !known.contains(where: late.hasTokens) {
                revocation.begin(late)
            }
        }
        return known
    }

    private func deleteAlone(_ epoch: Epoch) async -> [OAuthCredentials] {
        do {
            return try await store.withLock { await self.delete(epoch) }
        } catch {
            // Another process has it, and does not let go: what is here goes all the same.
            delegate.couldNotKeepCredentials(error)
            return await delete(epoch)
        }
    }

    private func delete(_ epoch: Epoch) async -> [OAuthCredentials] {
        let stored: OAuthCredentials?
        var failure: (any Error)?
        do {
            stored = try await load()
        } catch {
            stored = nil
            failure = error
        }
        let newest = known.withLock { known in
            defer { if let stored { known.newest = stored } }
            known.disownsUnseen = failure != nil
            return known.newest
        }
        _ = await save(nil, of: epoch)
        // Deleted, and nobody knows what it was.
        if let failure, !known.withLock(\.disownsUnseen) {
            delegate.couldNotRevokeCredentials(failure)
        }
        return [newest, stored.flatMap { isOurs($0) ? $0 : nil }].compactMap(\.self)
    }

    /// Whether this server has issued them: no other is to see them.
    private func isOurs(_ credentials: OAuthCredentials) -> Bool {
        credentials.server == nil || credentials.server == server.configuration.server.name
    }

    private func read() async throws -> Stored {
        let read = try await seen()
        let isOurs = read.map { self.isOurs($0) } ?? false
        return known.withLock { known in
            let isUsable = isOurs && !(read?.hasTokens(of: known.disowned) ?? false)
            let stored = isUsable ? read : nil
            let isUnchanged = stored.map { $0.hasTokens(of: known.stored) } ?? (known.stored == nil)
            guard !isUnchanged else { return .unchanged(newest: known.newest) }
            known.stored = stored
            known.newest = stored
            return stored.map { .replaced($0) } ?? .deleted
        }
    }

    /// Reads the store; what a log out should have found there is given back.
    private func seen() async throws -> OAuthCredentials? {
        let read = try await load()
        if let missed = known.withLock({ $0.see(read) }), isOurs(missed) {
            revocation.begin(missed)
        }
        return read
    }

    /// Reads the store, which may ask a person or a disk that is not there.
    private func load() async throws -> OAuthCredentials? {
        let read: OAuthCredentials??
        do {
            read = try await server.agenda.within(Self.patience) { try await self.store.load() }
        } catch {
            throw error as? AuthorisationError ?? .store(reason: "cannot be read")
        }
        guard let read else { throw Self.noAnswer }
        return read
    }

    private func save(_ credentials: OAuthCredentials?, of epoch: Epoch) async -> Bool {
        guard known.withLock({ $0.note(credentials, of: epoch) }) else { return false }
        do {
            try await write(credentials)
            known.withLock { $0.hasReplaced(with: credentials) }
        } catch {
            couldNotKeep(credentials, of: epoch, error)
        }
        return true
    }

    // MARK: What could not be written

    /// Says so, and tries again until they are written or deleted, or are not the newest any more.
    ///
    /// The server knows no older refresh token: whoever starts anew would find none that is good.
    private func couldNotKeep(
        _ credentials: OAuthCredentials?, of epoch: Epoch, _ error: any Error
    ) {
        if !(error is CancellationError) { delegate.couldNotKeepCredentials(error) }
        let task = Task { [weak self, agenda = server.agenda] in
            var pause = Duration.seconds(1)
            repeat {
                try await agenda.sleep(for: pause)
                pause = min(pause * 2, .seconds(60))
            } while await self?.needsAnotherTry(credentials, of: epoch) ?? false
        }
        rewriting.withLock { rewriting in
            rewriting?.cancel()
            rewriting = task
        }
    }

    private func needsAnotherTry(_ credentials: OAuthCredentials?, of epoch: Epoch) async -> Bool {
        await gate.run {
            do {
                try await store.withLock {
                    guard let credentials else { return try await self.deleteAgain(of: epoch) }
                    // Another process may have got newer ones meanwhile.
                    guard self.epoch == epoch, case .unchanged(let newest) = try await self.read(),
                        credentials.hasTokens(of: newest)
                    else { return }
                    try await self.write(credentials)
                    self.known.withLock { $0.hasReplaced(with: credentials) }
                }
                return false
            } catch {
                return true
            }
        }
    }

    /// Deletes what a log out, or a refused refresh, has left: a process that is started anew would
    /// go on with it.
    private func deleteAgain(of epoch: Epoch) async throws {
        // Somebody may have logged in meanwhile, here or in another process.
        guard known.withLock({ $0.hasNothing(since: epoch) }), let stored = try await seen(),
            known.withLock({ $0.hasNothing(since: epoch) && stored.hasTokens(of: $0.disowned) })
        else { return }
        try await write(nil)
        known.withLock { $0.hasReplaced(with: nil) }
    }

    /// Writes to the store, however long that takes: until then nobody else may touch it.
    private func write(_ credentials: OAuthCredentials?) async throws {
        // A task of its own: a log out that cancels this one waits until it is written, so that what
        // it deletes does not come back.
        try await Task { [store] in try await store.save(credentials) }.value
    }
}
