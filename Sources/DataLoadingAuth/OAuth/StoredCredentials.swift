// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// The credentials in a store, used by one task at a time among all processes.
///
/// A task reads, refreshes and writes them. The delegate is called only while nothing is locked.
final class StoredCredentials: Sendable {
    /// The store's content, compared with what this process knows.
    enum Comparison: Sendable {
        /// The store is unchanged; `newest` differs from its content when it could not be written.
        ///
        /// Such a `newest` is kept also when another process has deleted the content.
        case unchanged(newest: OAuthCredentials?)
        /// Another process has written these.
        case replaced(OAuthCredentials)
        /// Another process has deleted the content.
        case deleted
    }

    /// The change that an exclusive update makes to the store.
    enum Change: Sendable {
        case none
        case replacement(OAuthCredentials)
        case deletion
    }

    private let store: any OAuthCredentialStore
    private let server: OAuthServer
    private let delegate: OAuthDelegateReference
    private let revocation: OAuthRevocation
    private let gate = SerialGate()
    private let state = Locked(State())
    private let retries = Locked<Task<Void, any Error>?>(nil)

    /// The time limit for reading the store.
    private static let readTimeout = Duration.seconds(30)
    /// The time limit of a log-out: the store begins within 90 seconds.
    private static let logoutTimeout = Duration.seconds(120)

    /// The time for which a failed change is retried after the authoriser was dropped.
    private static let retriesWhenDropped = Duration.seconds(3_600)

    init(
        _ store: any OAuthCredentialStore, server: OAuthServer, delegate: OAuthDelegateReference
    ) {
        self.store = store
        self.server = server
        self.delegate = delegate
        revocation = OAuthRevocation(server: server, delegate: delegate)
    }

    deinit {
        retries.withLock { $0?.cancel() }
    }

    /// The current number of log-outs.
    var epoch: Epoch { state.withLock { $0.epoch } }

    /// Reads the store.
    func read() async throws -> Comparison {
        try await gate.run { compare(try await load()) }
    }

    /// Stores first credentials, or revokes them when there was a log-out since.
    func save(_ credentials: OAuthCredentials, since epoch: Epoch) async {
        do {
            try await updateExclusively(since: epoch) { _ in ((), .replacement(credentials)) }
        } catch {
            guard state.withLock({ $0.record(credentials, of: epoch) }) else {
                return revocation.begin(credentials)
            }
            retryLater(after: error)
        }
    }

    /// Runs `body` with exclusive use of the store among all processes, and makes its change.
    ///
    /// New credentials are revoked when there was a log-out since. A change that cannot be written
    /// is retried later.
    func withExclusiveAccess<Outcome: Sendable>(
        since epoch: Epoch,
        _ body: @escaping @Sendable (Comparison) async throws -> (Outcome, Change)
    ) async throws -> Outcome {
        let hasBegun = Locked(false)
        do {
            return try await updateExclusively(since: epoch) { stored in
                hasBegun.withLock { $0 = true }
                return try await body(stored)
            }
        } catch {
            if !hasBegun.withLock({ $0 }) { report(error) }
            throw error
        }
    }

    /// Deletes the stored credentials once earlier uses of the store have ended.
    ///
    /// Returns the credentials to revoke: those of this server and client that the store had, and
    /// those that could not be written.
    func clear() async -> [OAuthCredentials] {
        let (epoch, newest) = state.withLock { state in
            state.beginLogOut()
            return (state.epoch, state.newest)
        }
        retries.withLock { $0?.cancel() }
        // When the store does not answer in time, the deletion still runs before any other use of
        // it.
        let deletion = Task { await self.delete(epoch) }
        let deleted = try? await server.timerQueue.within(Self.logoutTimeout) {
            await deletion.value
        }
        if let deleted { return deleted }
        report(AuthorisationError.store(reason: "no answer in 120 seconds"))
        let returned = [newest].compactMap(\.self)
        Task { [revocation] in
            for late in await deletion.value where !returned.contains(where: late.hasTokens) {
                revocation.begin(late)
            }
        }
        return returned
    }

    private func delete(_ epoch: Epoch) async -> [OAuthCredentials] {
        let found = Locked<OAuthCredentials?>(nil)
        let (newest, failure) = await gate.run { () -> (OAuthCredentials?, (any Error)?) in
            let newest = state.withLock { $0.newest }
            let hasRead = Locked(false)
            do {
                try await update(forLogOut: true) { read in
                    let own = self.isDeletable(read) ? read : nil
                    hasRead.withLock { $0 = true }
                    found.withLock { $0 = own }
                    self.state.withLock { $0.logOut(finding: own, of: epoch) }
                    return own == nil ? read : nil
                }
                return (newest, nil)
            } catch {
                if !hasRead.withLock({ $0 }) {
                    state.withLock { $0.logOutWithoutReading(of: epoch) }
                }
                return (newest, error)
            }
        }
        if let failure { retryLater(after: failure) }
        return [newest, found.withLock { $0 }].compactMap(\.self)
    }

    // MARK: Exclusive updates

    private func updateExclusively<Outcome: Sendable>(
        since epoch: Epoch,
        _ body: @escaping @Sendable (Comparison) async throws -> (Outcome, Change)
    ) async throws -> Outcome {
        let outcome = Locked<Outcome?>(nil)
        do {
            try await gate.run {
                try await update { read in
                    let (result, change) = try await body(self.compare(read))
                    outcome.withLock { $0 = result }
                    return self.content(after: change, of: epoch, insteadOf: read)
                }
            }
        } catch {
            // Without an outcome, `body` has failed or was not called.
            guard let result = outcome.withLock({ $0 }) else { throw error }
            retryLater(after: error)
            return result
        }
        guard let result = outcome.withLock({ $0 }) else {
            throw AuthorisationError.store(reason: "an update did not read")
        }
        return result
    }

    private func content(
        after change: Change, of epoch: Epoch, insteadOf read: OAuthCredentials?
    ) -> OAuthCredentials? {
        switch change {
        case .replacement(let credentials):
            guard state.withLock({ $0.record(credentials, of: epoch) }) else {
                revocation.begin(credentials)
                return read
            }
            // The same tokens are written too: their lifetime begins again.
            return credentials
        case .deletion:
            _ = state.withLock { $0.record(nil, of: epoch) }
            return isUsable(read) ? nil : read
        case .none:
            return state.withLock { $0.desiredContent(for: read) }
        }
    }

    private func update(
        forLogOut: Bool = false, _ body: @escaping StoreUpdate.Body
    ) async throws {
        let content = Locked<OAuthCredentials?>(nil)
        try await StoreUpdate.run(on: store, server.timerQueue, forLogOut: forLogOut) { read in
            let new = try await body(read)
            guard new == read || read == nil || self.isDeletable(read) else {
                throw AuthorisationError.store(reason: "has another server's or client's tokens")
            }
            content.withLock { $0 = new }
            return new
        }
        let own = content.withLock { $0 }.flatMap { isUsable($0) ? $0 : nil }
        state.withLock { $0.didStore(own) }
    }

    // MARK: The content of the store

    /// Compares the content with the recorded one, and revokes credentials that a log-out missed.
    private func compare(_ read: OAuthCredentials?) -> Comparison {
        let missed = state.withLock { $0.takeUnread(isDeletable(read) ? read : nil) }
        if let missed { revocation.begin(missed) }
        return state.withLock { $0.compare(isUsable(read) ? read : nil) }
    }

    /// Whether the authoriser may use them: its server issued them to its client for its request.
    private func isUsable(_ credentials: OAuthCredentials?) -> Bool {
        credentials.map { server.configuration.purpose.covers($0) } ?? false
    }

    /// Whether a log-out deletes and revokes them: its server issued them to its client.
    private func isDeletable(_ credentials: OAuthCredentials?) -> Bool {
        credentials.map { server.configuration.purpose.hasIssuer(of: $0) } ?? false
    }

    /// Reads the store, which may ask a person or wait for a disk.
    private func load() async throws -> OAuthCredentials? {
        let read: OAuthCredentials??
        do {
            read = try await server.timerQueue.within(Self.readTimeout) {
                try await self.store.load()
            }
        } catch {
            throw error as? AuthorisationError ?? .store(reason: "cannot be read")
        }
        guard let read else { throw AuthorisationError.store(reason: "no answer in 30 seconds") }
        return read
    }

    // MARK: Retries

    private func report(_ error: any Error) {
        if !(error is CancellationError) { delegate.couldNotKeepCredentials(error) }
    }

    /// Reports the failure, and retries until the store has the newest credentials, or none.
    ///
    /// Otherwise a process that starts later would find an invalid refresh token, or that of a
    /// person who has logged out. A program may drop the authoriser meanwhile: for an hour the task
    /// keeps what it needs.
    private func retryLater(after error: any Error) {
        report(error)
        let kept = Locked<StoredCredentials?>(self)
        let task = Task { [weak self, timerQueue = server.timerQueue] in
            let begun = timerQueue.now
            var pause = Duration.seconds(1)
            repeat {
                try await timerQueue.sleep(for: pause)
                pause = min(pause * 2, .seconds(60))
                // The time is limited: a program may make many authorisers for a broken store.
                if timerQueue.now - begun >= Self.retriesWhenDropped {
                    _ = kept.withLock { $0.take() }
                }
            } while await self?.retry() ?? false
        }
        retries.withLock { retries in
            retries?.cancel()
            retries = task
        }
    }

    /// Returns whether another retry is needed.
    private func retry() async -> Bool {
        await gate.run {
            guard state.withLock(\.differsFromStore) else { return false }
            try? await update(forLogOut: state.withLock(\.isLogOutPending)) { read in
                _ = self.compare(read)
                return self.state.withLock { $0.desiredContent(for: read) }
            }
            return state.withLock(\.differsFromStore)
        }
    }
}
