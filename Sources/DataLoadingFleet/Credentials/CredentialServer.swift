// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What a store of credentials asks of its server.
///
/// Each question may be asked twice without harm, because an answer may be lost.
struct CredentialServer: Sendable {
    /// A lock that was taken.
    struct Lock: Sendable {
        let owner: String
        /// Each lock has a higher number than those before it.
        let number: Int64
        /// When it was asked for.
        let taken: Instant
    }

    let client: RedisClient
    /// The credentials, the lock, the count of locks.
    let keys: [String]
    let timerQueue: TimerQueue
    let random: RandomSource
    let times: LockTimes

    /// A name that no other owner has.
    func makeOwner() -> String {
        random.withGenerator { String($0.next() as UInt64, radix: 36) }
    }

    /// Waits for the lock and takes it.
    ///
    /// Call `release` also when this throws: the server may have given the lock although
    /// its answer was lost.
    func take(_ owner: String) async throws -> Lock {
        let end = timerQueue.now + times.wait
        while true {
            let taken = timerQueue.now
            let given = try await number(.takeLock, [owner, life], for: times.absence)
            if given > 0 {
                await waitForReplica()
                return Lock(owner: owner, number: given, taken: taken)
            }
            guard timerQueue.now < end else {
                throw AuthorisationError.store(reason: "another daemon has the lock")
            }
            try await pause()
        }
    }

    /// Keeps the lock for another life; returns whether it was still the owner's.
    func renew(_ lock: Lock) async throws -> Bool {
        try await number(.renewLock, [lock.owner, life], for: .zero) == 1
    }

    /// Lets the lock go, if it is the owner's.
    ///
    /// A caller that was cancelled lets it go too. Where the server does not answer it is asked again,
    /// each second for the life of a lock: it may read the question for the lock only then.
    func release(_ owner: String) async {
        let isAnswered = await Task {
            (try? await number(.releaseLock, [owner], for: .zero)) != nil
        }.value
        guard !isAnswered else { return }
        Task {
            let end = timerQueue.now + times.life
            while timerQueue.now < end {
                try await timerQueue.sleep(for: times.retry)
                if try await number(.releaseLock, [owner], for: times.life) == 1 { return }
            }
        }
    }

    /// Reads what is stored; nil for nothing.
    func read(for limit: Duration = .zero) async throws -> [UInt8]? {
        let reply = try await answer(for: limit) {
            try await client.run(RedisCommand("HMGET", keys[0], "value"))
        }
        switch reply.elements?.first {
        case .bulk(let bytes): return bytes
        case .null: return nil
        default: throw Self.malformed
        }
    }

    /// Writes a text, or deletes what is stored, unless a later lock was taken.
    ///
    /// A caller that was cancelled writes too: the authorization server knows only the newest token.
    func write(_ text: String?, under lock: Lock) async throws {
        // The count of locks and the trace of a log-out last for an hour: a process that was stopped for
        // as long would not be told of a later lock.
        guard timerQueue.now - lock.taken < .seconds(1_800) else { throw Self.superseded }
        let arguments = ["\(lock.number)"] + [text].compactMap(\.self)
        let isWritten = try await Task {
            let isWritten = try await number(.saveCredentials, arguments, for: times.writing) == 1
            if isWritten { await waitForReplica() }
            return isWritten
        }.value
        guard isWritten else { throw Self.superseded }
    }

    private var life: String { "\(max(1, Int(times.life / .milliseconds(1))))" }

    private func number(
        _ script: RedisScript, _ arguments: [String], for limit: Duration
    ) async throws -> Int64 {
        let reply = try await answer(for: limit) {
            try await client.run(script, keys: keys, arguments: arguments)
        }
        guard let number = reply.number else { throw Self.malformed }
        return number
    }

    /// Asks, and asks again while the server is away, for so long; a cancellation stays one.
    private func answer(
        for limit: Duration, _ ask: () async throws -> RESPValue
    ) async throws -> RESPValue {
        let end = timerQueue.now + limit
        while true {
            do {
                return try await ask()
            } catch let error as RedisError {
                guard error.mayPass, timerQueue.now < end else {
                    throw AuthorisationError.store(reason: error.description)
                }
            }
            try await pause()
        }
    }

    /// At random, so that daemons that wait do not ask at the same time.
    private func pause() async throws {
        let pause = random.withGenerator { Int.random(in: 20...100, using: &$0) }
        try await timerQueue.sleep(for: .milliseconds(pause))
    }

    private static let superseded = AuthorisationError.store(reason: "superseded")
    private static let malformed = AuthorisationError.store(reason: "the answer is malformed")
}

extension RedisError {
    /// What a server says that can write again when its disk, its memory, its replicas or a script let it.
    private static let passing: Set<String> = ["BUSY", "MISCONF", "NOREPLICAS", "OOM"]

    /// Whether another try may succeed soon.
    fileprivate var mayPass: Bool {
        switch self {
        case .notSent(.forked), .notSent(.noEndpoint), .tooLarge, .shutDown: false
        case .notSent, .silent, .lost, .overloaded: true
        // A server that starts, or that hands over to another.
        case .refused(let error): error.isElsewhere || Self.passing.contains(error.code)
        }
    }
}
