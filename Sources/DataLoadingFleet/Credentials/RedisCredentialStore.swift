// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingAuth
import DataLoadingSupport

/// Stores OAuth credentials for all daemons of a fleet, which then refresh them once.
///
/// Who refreshes takes a lock that lasts 30 s and is renewed each five seconds; a daemon that dies
/// loses it. One that could not renew it for 15 s, or learns that it is gone, renews it no more. A
/// refresh that has begun continues: its tokens are written where no other daemon has taken the lock
/// meanwhile. Each lock has a number, and a write is refused once a later lock was taken:
/// "superseded".
///
/// What no lock can do: an authorization server does not know the numbers. Where a server of this store
/// fails over to a replica, the lock may be lost with it, two daemons may use one refresh token, and a
/// server that detects reuse revokes the login (RFC 9700 section 4.14.2). To make that less likely, a lock
/// and new credentials wait up to 50 ms until one replica has them (`WAIT`). So it may where a daemon dies
/// after its refresh and before its write. Where a login is expensive, use one server without failover,
/// or an authorization server that takes a token twice for a moment.
///
/// Let the server's clock be slewed, not stepped: a step forward by more than the rest of a lock's life is
/// the loss of the lock, and one back prolongs the lock of a daemon that has died.
///
/// While the server is gone, tokens that last are used on. A refresh waits 10 s for it to come back and
/// then fails; new credentials are written again and again for 30 s.
///
/// The server keeps credentials in memory only: after a restart without persistence there are none. An
/// eviction may delete them too, as they do not expire; what a log-out leaves is gone after an hour.
public final class RedisCredentialStore: OAuthCredentialStore {
    private let server: CredentialServer
    private let text: CredentialText
    private let hold: LockHold

    init(
        _ client: RedisClient, keys: [String], sealing seal: CredentialSeal?,
        _ timekeeper: any Timekeeper, _ random: RandomSource, times: LockTimes = LockTimes()
    ) {
        let timerQueue = TimerQueue(timekeeper: timekeeper)
        server = CredentialServer(
            client: client, keys: keys, timerQueue: timerQueue, random: random, times: times)
        text = CredentialText(seal: seal)
        hold = LockHold(timerQueue: timerQueue, times: times)
    }

    /// Reads the credentials; where the server is gone, waits 10 s for it to come back.
    ///
    /// - Throws: `AuthorisationError.store` when the server does not answer, or they are unreadable.
    public func load() async throws -> OAuthCredentials? {
        try text.credentials(of: await server.read(for: hold.times.absence))
    }

    /// Reads the credentials and replaces them by what `body` returns, while no other daemon does so.
    ///
    /// `body` continues when the lock is lost. What it returns is written unless a later lock was
    /// taken.
    ///
    /// - Throws: The error of `body`, or `AuthorisationError.store` when another daemon keeps the
    ///   lock for 60 s, the lock was lost before `body` began, the write was refused, the server
    ///   does not answer, or the credentials are unreadable.
    public func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        try await update(reading: { try $0.credentials(of: $1) }, body)
    }

    /// Does the same for a log-out, also with credentials that are unreadable: damaged, or of another
    /// seal.
    ///
    /// `body` is called with nil for those, and they are deleted when it returns nil.
    public func updateForLogOut(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        try await update(reading: { try? $0.credentials(of: $1) }, body)
    }

    private func update(
        reading: (CredentialText, [UInt8]?) throws -> OAuthCredentials?,
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        let owner = server.makeOwner()
        do {
            let lock = try await server.take(owner)
            let stored = try await server.read(for: hold.times.absence)
            let present = try reading(text, stored)
            let renew: LockHold.Renewal = { [server] in try await server.renew(lock) }
            let credentials = try await hold.run(since: lock.taken, renewing: renew) {
                try await body(present)
            }
            // What a log-out could not read differs from nothing, and is deleted.
            if credentials != present || credentials == nil && stored != nil {
                let new = try credentials.map { try text.text(of: $0) }
                try await server.write(new, under: lock)
            }
            await server.release(owner)
        } catch {
            await server.release(owner)
            throw error
        }
    }
}
