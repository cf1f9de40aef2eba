// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingAuth
import DataLoading
import DataLoadingSupport
import Foundation

/// Stores OAuth credentials for all daemons of a fleet, which then refresh them once.
///
/// Who refreshes takes a lock that lasts a minute and is renewed each ten seconds; a daemon that dies
/// loses it. One that could not renew it for 30 s gives its refresh up. A write by a holder whose lock
/// went to a later one is refused once that has written: each lock has a number.
///
/// What no lock can do: an authorization server does not know the numbers. Where a server of this store
/// fails over to a replica, the lock may be lost with it, two daemons may use one refresh token, and a
/// server that detects reuse revokes the login (RFC 9700 section 4.14.2). Where a login is expensive,
/// use one server without failover. While the server is gone, tokens that last are used on, and a
/// refresh fails.
///
/// The server keeps credentials in memory only: after a restart without persistence there are none.
public final class RedisCredentialStore: OAuthCredentialStore {
    /// The most time for taking the lock: a refresh of another daemon may take 30 s.
    private static let lockLimit = Duration.seconds(60)

    private let client: RedisClient
    /// The credentials, the lock, the count of locks.
    private let keys: [String]
    private let text: CredentialText
    private let timerQueue: TimerQueue
    private let random: RandomSource

    init(
        _ client: RedisClient, keys: [String], sealing seal: CredentialSeal?,
        _ timekeeper: any Timekeeper, _ random: RandomSource
    ) {
        self.client = client
        self.keys = keys
        text = CredentialText(seal: seal)
        timerQueue = TimerQueue(timekeeper: timekeeper)
        self.random = random
    }

    /// Reads the credentials.
    ///
    /// - Throws: `AuthorisationError.store` when the server does not answer, or they are unreadable.
    public func load() async throws -> OAuthCredentials? {
        try text.credentials(of: await read())
    }

    /// Reads the credentials and replaces them by what `body` returns, while no other daemon does so.
    ///
    /// - Throws: The error of `body`, or `AuthorisationError.store` when another daemon keeps the lock
    ///   for 60 s, the lock was lost, or the server does not answer.
    public func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        try await update(reading: { try $0.credentials(of: $1) }, body)
    }

    /// Does the same for a log-out, and calls `body` with nil for what cannot be read.
    public func updateForLogOut(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        try await update(reading: { try? $0.credentials(of: $1) }, body)
    }

    private func update(
        reading: (CredentialText, [UInt8]?) throws -> OAuthCredentials?,
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        let owner = random.withGenerator { "\($0.next() as UInt64)" }
        let lock = try await takenLock(owner)
        do {
            let stored = try await read()
            let present = try reading(text, stored)
            let credentials = try await keeping(lock, owner) { try await body(present) }
            // What cannot be read is deleted by a log-out.
            let isChange = credentials != present || credentials == nil && stored != nil
            if isChange { try await write(credentials, lock.number) }
            await release(owner)
        } catch {
            await release(owner)
            throw error
        }
    }

    /// Renews the lock while `body` runs, which is cancelled when it is lost.
    private func keeping(
        _ lock: Lock, _ owner: String,
        _ body: @Sendable () async throws -> OAuthCredentials?
    ) async throws -> OAuthCredentials? {
        let hold = LockHold(timerQueue)
        async let credentials = {
            defer { hold.end() }
            return try await body()
        }()
        let isKept = await hold.keep(since: lock.taken) {
            try await self.client.run(.renewLock, keys: self.keys, arguments: [owner]).number == 1
        }
        // Leaving this function cancels what is not awaited.
        guard isKept else { throw AuthorisationError.store(reason: "the lock was lost") }
        return try await credentials
    }

    private struct Lock: Sendable {
        let number: Int64
        /// When it was asked for.
        let taken: Instant
    }

    private func takenLock(_ owner: String) async throws -> Lock {
        let end = timerQueue.now + Self.lockLimit
        while true {
            let taken = timerQueue.now
            let number = try await run(.takeLock, [owner]).number ?? 0
            if number > 0 { return Lock(number: number, taken: taken) }
            guard timerQueue.now < end else {
                throw AuthorisationError.store(reason: "another daemon has the lock")
            }
            // At random, so that daemons that wait do not ask at the same time.
            let pause = random.withGenerator { Int.random(in: 20...100, using: &$0) }
            try await timerQueue.sleep(for: .milliseconds(pause))
        }
    }

    private func release(_ owner: String) async {
        _ = try? await client.run(.releaseLock, keys: keys, arguments: [owner])
    }

    private func read() async throws -> [UInt8]? {
        do {
            let reply = try await client.run(RedisCommand("HGET", keys[0], "value"))
            if case .bulk(let bytes) = reply { return bytes }
            return nil
        } catch {
            throw Self.failure(error)
        }
    }

    private func write(_ credentials: OAuthCredentials?, _ lock: Int64) async throws {
        let value = try credentials.map { [try text.text(of: $0)] } ?? []
        guard try await run(.saveCredentials, ["\(lock)"] + value).number == 1 else {
            throw AuthorisationError.store(reason: "superseded")
        }
    }

    private func run(_ script: RedisScript, _ arguments: [String]) async throws -> RESPValue {
        do {
            return try await client.run(script, keys: keys, arguments: arguments)
        } catch {
            throw Self.failure(error)
        }
    }

    /// A cancellation stays one.
    private static func failure(_ error: any Error) -> any Error {
        guard let error = error as? RedisError else { return error }
        return AuthorisationError.store(reason: error.description)
    }
}
