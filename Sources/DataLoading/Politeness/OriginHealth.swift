// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Records each origin's retry budget and its most recent failure to connect.
///
/// The budget has no clock and delays no first attempt. A load that has retries left skips its
/// attempt when another load failed to connect within the last 250 ms, and its pause begins at
/// once. Otherwise every waiting load would retry against a server that restarts, and spend the
/// budget before the server is back. An origin without such a record takes no memory.
final class OriginHealth: Sendable {
    /// The time for which other loads skip their attempts after a failure to connect: 250 ms.
    ///
    /// An outage of 3 s then costs 12 attempts, besides those already under way.
    static let failureLifetime = Duration.milliseconds(250)
    /// How long an origin counts as one that cannot be reached without a response or another failure:
    /// one that no load asks any more does not stay on the dashboard.
    private static let failureMemory = Duration.seconds(600)
    /// Bounds the memory that a peer can fill by redirecting to ever new origins.
    private static let maxOrigins = 10_000
    private static let maxFailures = 1_000

    private struct Record: Sendable {
        /// The tokens left; nil when the budget is full.
        var tokens: Int?
        var failure: ConnectFailure?

        var isEmpty: Bool { tokens == nil && failure == nil }
    }

    private struct ConnectFailure: Sendable {
        let error: DataLoaderError
        let load: ObjectIdentifier
        let end: Instant
    }

    private struct State: Sendable {
        var records: [Origin: Record] = [:]
        var failures = 0

        mutating func update(_ origin: Origin, _ change: (inout Record) -> Void) {
            var record = records[origin] ?? Record()
            let hadFailure = record.failure != nil
            change(&record)
            failures += (record.failure == nil ? 0 : 1) - (hadFailure ? 1 : 0)
            records[origin] = record.isEmpty ? nil : record
        }

        mutating func keepPoorest(_ count: Int) {
            let poorest = records.sorted { $0.value.tokens ?? .max < $1.value.tokens ?? .max }
                .prefix(count)
            records = Dictionary(uniqueKeysWithValues: poorest.map { ($0.key, $0.value) })
            failures = records.values.count { $0.failure != nil }
        }

        mutating func dropFailures(until now: Instant) {
            for (origin, record) in records {
                guard let failure = record.failure, failure.end <= now else { continue }
                update(origin) { $0.failure = nil }
            }
        }
    }

    private let capacity: Int?
    private let state = Locked(State())

    /// Makes the records of a service.
    ///
    /// A nil budget is unlimited; zero or less allows no retry.
    init(_ configuration: RetryConfiguration) {
        capacity = configuration.budget.map { max(0, $0) }
    }
}

extension OriginHealth {
    /// Takes the cost of a retry; false when the budget has too few tokens.
    func withdraw(_ cost: RetryCost, for origin: Origin) -> Bool {
        guard let capacity else { return true }
        return state.withLock { state in
            let rest = (state.records[origin]?.tokens ?? capacity) - cost.rawValue
            guard rest >= 0 else { return false }
            if state.records.count >= Self.maxOrigins { state.keepPoorest(Self.maxOrigins / 2) }
            state.update(origin) { $0.tokens = rest }
            return true
        }
    }

    /// Returns the cost of a retry that succeeded or was never made.
    func refund(_ cost: RetryCost, for origin: Origin) {
        add(cost.rawValue, for: origin)
    }

    /// Adds a token for a load that succeeded on its first attempt.
    func noteCleanSuccess(for origin: Origin) {
        add(1, for: origin)
    }

    private func add(_ amount: Int, for origin: Origin) {
        guard let capacity else { return }
        state.withLock { state in
            guard let tokens = state.records[origin]?.tokens else { return }
            state.update(origin) { record in
                record.tokens = amount < capacity - tokens ? tokens + amount : nil
            }
        }
    }

    /// The tokens of an origin; nil without a limit.
    func balance(of origin: Origin) -> Int? {
        guard let capacity else { return nil }
        return state.withLock { $0.records[origin]?.tokens ?? capacity }
    }

    /// The origins that have spent any of their budget, and those that could not be reached last.
    func states(at now: Instant) -> [Origin: (tokens: Int?, isFailing: Bool)] {
        state.withLock { state in
            state.records.mapValues { record in
                (
                    record.tokens ?? capacity,
                    record.failure.map { now < $0.end + Self.failureMemory } ?? false
                )
            }
        }
    }

    /// The number of origins that have spent any of their budget.
    var busyOrigins: Int {
        state.withLock { $0.records.values.count { $0.tokens != nil } }
    }
}

extension OriginHealth {
    /// Records that a load failed to connect to an origin, at all of its addresses.
    func noteConnectFailure(
        _ error: DataLoaderError, of origin: Origin, load: ObjectIdentifier, now: Instant
    ) {
        state.withLock { state in
            if state.failures >= Self.maxFailures { state.dropFailures(until: now) }
            if state.failures >= Self.maxFailures { state.dropFailures(until: .distantFuture) }
            let end = now + Self.failureLifetime
            state.update(origin) {
                $0.failure = ConnectFailure(error: error, load: load, end: end)
            }
        }
    }

    /// Records that an origin has responded, which clears its failure to connect.
    func noteResponse(from origin: Origin) {
        state.withLock { state in
            guard state.failures > 0 else { return }
            state.update(origin) { $0.failure = nil }
        }
    }

    /// The failure to connect of another load within the last 250 ms; nil without one.
    ///
    /// A load's own failure does not count, so that a single load makes all of its attempts.
    func recentFailure(
        of origin: Origin, for load: ObjectIdentifier, now: @autoclosure () -> Instant
    ) -> DataLoaderError? {
        // An error that is returned from the lock is copied, also where there is none.
        var error: DataLoaderError?
        state.withLock { state in
            guard state.failures > 0, let failure = state.records[origin]?.failure,
                failure.end > now(), failure.load != load
            else { return }
            error = failure.error
        }
        return error
    }

    /// The number of origins with a failure to connect that no response has followed.
    var failingOrigins: Int { state.withLock { $0.failures } }
}
