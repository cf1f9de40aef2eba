// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
package import DataLoadingSupport

/// Shares the rates of several daemons through a Redis or Valkey server.
///
/// ```swift
/// let fleet = RedisFleet(
///     RedisFleet.Configuration(
///         endpoints: [try RedisEndpoint("rediss://redis.internal:6380")], namespace: "feeds"))
/// configuration.rateLimiter.share(through: fleet, expectedMembers: 8)
/// ```
/// Daemons with the same namespace share. The server keeps a line of slots for each rate, in 0.1 KiB and
/// 26 bytes for each daemon, which expire a minute after their last use, so it needs no persistence, and
/// clocks do not matter: only distances in time are exchanged. One connection and one thread serve all
/// rates; they begin with the first load, and the thread sleeps while nothing is asked.
///
/// A server that is slow, gone or empty delays no load for longer than 250 ms in all: `LossPolicy` says
/// what happens then. Redis 6 or later; there is no client of Redis Cluster in it, so a cluster that
/// sends elsewhere is an error.
public final class RedisFleet: QuotaProvider {
    /// The last answer to a heartbeat.
    private struct LastAnswer {
        let time: ServerTime
        /// The number of its connection.
        let connection: UInt64
        /// Whether the server's clock had been set forward.
        let isAhead: Bool
    }

    /// How far ahead the slots of a lease reach at most.
    public let window: Duration
    private let client: RedisClient
    private let keys: FleetKeys
    /// What others know this daemon by, for as long as it runs.
    private let member: String
    private let counts = Locked(FleetCounts())
    private let lastAnswer = Locked<LastAnswer?>(nil)
    private let timekeeper: any Timekeeper
    private let random: RandomSource

    /// Makes a member of a fleet; it connects when a load or a heartbeat asks.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, random: .system, timekeeper: SystemTimekeeper())
    }

    init(_ configuration: Configuration, random: RandomSource, timekeeper: any Timekeeper) {
        window = min(max(configuration.window, .milliseconds(10)), .seconds(1))
        keys = FleetKeys(namespace: configuration.namespace)
        member = random.withGenerator { String($0.next() as UInt64, radix: 36) }
        self.timekeeper = timekeeper
        self.random = random
        client = RedisClient(configuration.redis, randomness: random, timekeeper: timekeeper)
    }

    /// Leases the next slots of a key's line, or only looks at it.
    ///
    /// - Throws: An error that says why there is no answer: within 250 ms the server was not reached or
    ///   did not answer, or it refused. ``status`` tells the same of the connection.
    public func lease(_ request: QuotaRequest) async throws -> QuotaLease {
        let question = question(for: request)
        let reply = try await client.run(
            .lease, keys: keys.line(of: request.key), arguments: question.arguments)
        return try question.lease(from: reply)
    }

    private func question(for request: QuotaRequest) -> LeaseQuestion {
        let now = timekeeper.now
        let known = counts.withLock { $0.known(at: now) }
        return LeaseQuestion(
            request, of: member, window: window, known: known, asked: serverTime(at: now))
    }

    /// Closes a key for all daemons; throws as ``lease(_:)`` does.
    public func close(_ key: QuotaKey, for delay: Duration) async throws {
        let length = "\(delay.microseconds)"
        let asked = "\(serverTime(at: timekeeper.now) ?? 0)"
        // One after the other, because in a cluster the two may be on different servers.
        let line = try await client.run(
            .closeLine, keys: keys.line(of: key), arguments: [length, asked])
        let gate = try await client.run(
            .closeGate, keys: [keys.gates], arguments: [GateName.text(of: key), length, asked])
        // The server was suspended: it has answered too late, and changed nothing.
        guard line.number != -1, gate.number != -1 else { throw RedisError.silent }
    }

    /// Says that this daemon is alive, and returns what is known of the others; throws as
    /// ``lease(_:)`` does.
    public func heartbeat() async throws -> FleetView {
        let sent = timekeeper.now
        let asked = serverTime(at: sent)
        let reply = try await client.run(
            .heartbeat, keys: [keys.members, keys.departures, keys.gates],
            arguments: [member, "\(asked ?? 0)"])
        let pulse = try FleetPulse(reply)
        let now = timekeeper.now
        // The answer of a server that was suspended comes late; one whose clock was set does not.
        let isAhead =
            ServerTime.isAhead(pulse.time, of: asked) && now - sent <= .milliseconds(250)
        let answer = LastAnswer(
            time: ServerTime(pulse.time, received: now), connection: client.status.connections,
            isAhead: isAhead)
        let last = lastAnswer.withLock { lastAnswer in
            defer { lastAnswer = answer }
            return lastAnswer
        }
        // A clock that was set forward makes the others seem gone until their second heartbeat. A server
        // that has started anew has ended the connection.
        let isEmptied =
            (pulse.isNew || isAhead || last?.isAhead == true)
            && last?.connection == answer.connection
        let (present, known) = counts.withLock { counts in
            counts.add(pulse.counts, isEmptied: isEmptied, at: now)
            return (counts.present, counts.known(at: now))
        }
        return FleetView(present: present, known: known, gates: pulse.gates)
    }

    private func serverTime(at instant: Instant) -> Int64? {
        lastAnswer.withLock { $0?.time.time(at: instant) }
    }

    /// Says goodbye, and ends the connection.
    public func shutDown() async {
        _ = try? await client.run(
            .goodbye, keys: [keys.members, keys.departures], arguments: [member])
        await client.shutDown()
    }

    /// Makes a store of OAuth credentials for all members of the fleet, by the same connection.
    ///
    /// It ends with the fleet. Stores with the same name are one.
    public func makeCredentialStore(
        name: String, sealing seal: CredentialSeal? = nil
    ) -> RedisCredentialStore {
        RedisCredentialStore(
            client, keys: keys.credentials(name), sealing: seal, timekeeper, random)
    }

    /// How the connection is, and how many daemons share.
    public var status: FleetStatus {
        let now = timekeeper.now
        return FleetStatus(client.status, members: counts.withLock { $0.known(at: now) }, at: now)
    }
}

extension RedisFleet: ExecutingQuotaProvider {
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    package var taskExecutor: any TaskExecutor { client.taskExecutor }

    package func lease(
        _ request: QuotaRequest,
        answer: @escaping @Sendable (Result<QuotaLease, any Error>) -> Void
    ) {
        let question = question(for: request)
        client.run(
            .lease, keys: keys.line(of: request.key), arguments: question.arguments
        ) { reply in
            answer(reply.flatMap { reply in Result { try question.lease(from: reply) } })
        }
    }
}

extension RedisFleet: MeasuredQuotaProvider {
    package var storeSystem: String { "redis" }

    package var storeOperations: StoreOperations { client.operations }
}
