// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// A store of rates in memory, for tests of daemons that share theirs.
///
/// It gives out slots by the rules of the Redis server's script, on a manual clock. Each daemon of the
/// test shares through a member of its own. Answers can be delayed and lost, for one daemon or for all.
///
/// ```swift
/// let clock = ManualClock()
/// let quota = SharedQuota(clock: clock)
/// for name in ["one", "two"] {
///     var configuration = DataLoaderService.Configuration()
///     configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
///     configuration.rateLimiter.share(through: quota.makeMember(name), expectedMembers: 2)
///     services.append(DataLoaderService(configuration: configuration, clock: clock))
/// }
/// quota.outage = .silence  // from now on each uses five a second
/// ```
public final class SharedQuota: Sendable {
    /// How a store does not answer.
    public enum Outage: Hashable, Sendable {
        /// Calls fail at once, as with a closed port.
        case refusal
        /// Calls fail after 250 ms without an answer, as with a stopped process.
        case silence
    }

    private struct State: Sendable {
        var lines: [QuotaKey: QuotaLine] = [:]
        var gates: [QuotaKey: Double] = [:]
        var members: [String: Double] = [:]
        var departures: Int64 = 0
        /// The daemons that have said goodbye.
        var left: Set<String> = []
        var outage: Outage?
        var operations = 0
    }

    let clock: ManualClock
    private let state = Locked(State())

    /// Makes an empty store on a clock.
    public init(clock: ManualClock) {
        self.clock = clock
    }

    /// How the store does not answer any daemon; default nil: it answers.
    public var outage: Outage? {
        get { state.withLock { $0.outage } }
        set { state.withLock { $0.outage = newValue } }
    }

    /// The number of calls that the store has carried out.
    public var operations: Int { state.withLock { $0.operations } }

    /// Makes the provider of a daemon; names are those of different daemons.
    public func makeMember(_ name: String) -> Member { Member(name, of: self) }

    /// Loses everything, as a server that starts without its data.
    public func forgetAll() {
        state.withLock { state in
            state.lines = [:]
            state.gates = [:]
            state.members = [:]
            state.departures = 0
        }
    }

    private var now: Double {
        1_767_225_600_000_000 + clock.elapsed.inSeconds * 1e6
    }

    func answer(_ question: QuotaLine.Question, about key: QuotaKey) -> QuotaLine.Answer {
        state.withLock { state in
            state.operations += 1
            let now = now
            return state.lines[key, default: QuotaLine()].answer(question, at: now)
        }
    }

    func close(_ key: QuotaKey, for delay: Duration) {
        state.withLock { state in
            state.operations += 1
            let now = now
            let length = delay.inSeconds * 1e6
            state.lines[key, default: QuotaLine()].close(for: length, at: now)
            state.gates[key] = max(state.gates[key] ?? 0, now + length)
        }
    }

    /// Notes that a daemon lives; returns how many others do, and which keys are closed.
    func heartbeat(of name: String) -> (FleetCounts.Pulse, gates: [QuotaKey: Duration]) {
        state.withLock { state in
            state.operations += 1
            let now = now
            let oldest = now - FleetCounts.length.inSeconds * 1e6
            let recent = now - FleetCounts.presence.inSeconds * 1e6
            // A clock that was set back takes all instants with it.
            let back = (state.members.values.max() ?? now) - now
            if back > 0 {
                state.members = state.members.mapValues { $0 - back }
                state.gates = state.gates.mapValues { $0 - back }
            }
            // A heartbeat may come after the goodbye that was sent later.
            if !state.left.contains(name) { state.members[name] = now }
            state.members = state.members.filter { $0.value >= oldest }
            state.gates = state.gates.filter { $0.value > now }
            return (
                FleetCounts.Pulse(
                    present: state.members.values.count { $0 >= recent },
                    known: state.members.count, departures: state.departures),
                state.gates.mapValues { .saturating(seconds: ($0 - now) / 1e6) }
            )
        }
    }

    func leave(_ name: String) {
        state.withLock { state in
            state.operations += 1
            state.left.insert(name)
            if state.members.removeValue(forKey: name) != nil { state.departures += 1 }
        }
    }
}
