// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The state of a limiter that shares its rates: what is leased, what to ask, and what to do without
/// an answer.
///
/// It reads no clock and calls nothing. What it wants done it adds to `orders`, which `LeaseKeeper`
/// carries out after the limiter's lock is released, and what it waits for to `timers`.
struct SharedRates: Sendable {
    /// A call of the provider.
    enum Order: Hashable, Sendable {
        case lease(RuleKey)
        case close(RuleKey)
        case heartbeat
    }

    /// What an instant is waited for.
    enum Timer: Hashable, Sendable {
        /// The answer about a key is due.
        case leaseLimit(RuleKey, number: UInt64)
        /// A key may be asked about again.
        case leaseRest(RuleKey)
        /// The patience with a key that fails ends.
        case keyPatience(RuleKey)
        case closeRest(RuleKey)
        case heartbeatLimit(number: UInt64)
        case heartbeatRest
        /// The patience with a store that does not answer ends.
        case patience
    }

    /// The answer to a load that asks for a slot.
    enum Answer: Hashable, Sendable {
        case granted
        case wait(until: Instant)
        case paused
        /// Ask the daemon's own bucket.
        case ownShare(OwnShare)
    }

    private static let smallestSweep = 64

    let policy: LossPolicy
    /// How far leases reach ahead.
    let window: Duration
    var members: FleetMembers
    var circuit = FleetCircuit()
    var keys: [RuleKey: SharedKey] = [:]
    /// Gates that the others are to be told of.
    var closings: [RuleKey: GateClosing] = [:]
    var heartbeat = QuotaExchange.none
    var heartbeatTimer: SharedKey.TimerHandle?
    /// The failures of heartbeats in a row.
    var failures = 0
    /// Until when heartbeats come faster while daemons are missing, which may be about to come back;
    /// nil before the first.
    var gatheringEnd: Instant?
    /// When the last heartbeat that was answered was sent.
    var lastHeartbeat: Instant?
    /// Whether the others did not count this daemon when the store was last found again.
    var wasMissed = false
    /// When the store has last answered about any key.
    var lastAnswer: Instant?
    /// The time that answers take lately.
    var roundTrip = Duration.zero
    /// Where in a first interval of its own share this daemon starts, from zero to one.
    var phase = 0.0
    var timers = TimedElements<Timer>()
    /// The number of timers for the patience.
    var patienceTimers = 0
    /// How many slots were leased, and how many of those were used, since the start.
    var leasedCount: Int64 = 0
    private(set) var usedCount: Int64 = 0
    private(set) var orders: [Order] = []
    private var lastNumber: UInt64 = 0
    private var nextSweep = smallestSweep

    init(policy: LossPolicy, window: Duration, expectedMembers: Int) {
        self.policy = policy
        self.window = min(max(window, .milliseconds(10)), .seconds(1))
        members = FleetMembers(expected: expectedMembers)
    }

    /// Whether something is to be done.
    var hasOrders: Bool { !orders.isEmpty }

    /// Takes what is to be done.
    mutating func takeOrders() -> [Order] {
        defer { orders = [] }
        return orders
    }

    mutating func add(_ order: Order) { orders.append(order) }

    mutating func nextNumber() -> UInt64 {
        lastNumber &+= 1
        return lastNumber
    }

    // MARK: Slots

    /// Takes a slot of a key with a rate, if there is one now.
    mutating func reserve(
        _ key: RuleKey, requestsPerSecond perSecond: Double, notBefore gate: Instant?,
        at now: Instant
    ) -> Answer {
        sweep(at: now)
        if case .share(let since) = mode(of: key, at: now) {
            return reserveOwn(key, perSecond, since: since, notBefore: gate, at: now)
        }
        guard circuit.isShared else { return .paused }
        var entry = keys.removeValue(forKey: key) ?? SharedKey()
        entry.drop(at: now, notBefore: gate)
        let answer = reserve(key, &entry, at: now)
        let isStarved = entry.isStarved && !entry.trust.isRefused
        let isImpatient = isStarved && patienceEnd.map { $0 <= now } ?? false
        keys[key] = entry
        // Where a timer is about to give the store up, loads of other keys wait for it.
        guard isImpatient, patienceTimers == 0 else { return answer }
        lose(at: now)
        return reserve(key, requestsPerSecond: perSecond, notBefore: gate, at: now)
    }

    /// Where slots of a key come from.
    private func mode(of key: RuleKey, at now: Instant) -> FleetMode {
        let mode = circuit.mode(policy, at: now)
        guard mode == .shared, let refusal = keys[key]?.trust.refusal else { return mode }
        // Without a share its loads wait for the store as others do.
        let own = policy.mode(since: refusal.since, at: now)
        return own == .paused ? .shared : own
    }

    /// The number of keys whose slots the store refuses.
    var refusedCount: Int { keys.values.count { $0.trust.isRefused } }

    /// Whether loads wait for an answer of the store.
    var isAwaited: Bool { keys.values.contains { $0.isStarved && !$0.trust.isRefused } }

    private mutating func reserve(
        _ key: RuleKey, _ entry: inout SharedKey, at now: Instant
    ) -> Answer {
        switch entry.slots.first(at: now) {
        case .due where !entry.slots.mustBeConfirmed(at: now, within: window):
            use(&entry)
            if entry.runsOut(within: prefetch, at: now) { order(key, &entry) }
            return .granted
        case .later(let start):
            guard entry.slots.mustBeConfirmed(at: start, within: window) else {
                if entry.runsOut(within: prefetch, at: now) { order(key, &entry) }
                return wait(for: start, lookingAt: start, entry)
            }
            // Early enough for the answer to come before the slot.
            let early = start + window / -2
            guard early <= now else { return wait(for: start, lookingAt: early, entry) }
            order(key, &entry)
            return wait(for: start, lookingAt: start, entry)
        case .due, .none:
            entry.isStarved = true
            order(key, &entry)
            return .paused
        }
    }

    /// What loads do until a slot of the line starts, or until they are to look at it.
    private func wait(for start: Instant, lookingAt look: Instant, _ entry: SharedKey) -> Answer {
        endingShare(entry, OwnShare.Line(start: start, nextLook: look)).map(Answer.ownShare)
            ?? .wait(until: look)
    }

    /// The daemon's own share until the line has slots again; nil where it was not used before.
    private func endingShare(_ entry: SharedKey, _ line: OwnShare.Line) -> OwnShare? {
        guard case .ending(var share) = entry.ownShare else { return nil }
        // The store may not know all of those yet who come back.
        share.daemons = max(share.daemons, members.known)
        share.line = line
        return share
    }

    /// Takes a slot that was leased before the store, or the key, was lost, or one of the own share.
    private mutating func reserveOwn(
        _ key: RuleKey, _ perSecond: Double, since: Instant, notBefore gate: Instant?,
        at now: Instant
    ) -> Answer {
        var entry = keys.removeValue(forKey: key) ?? SharedKey()
        defer { keys[key] = entry }
        entry.isStarved = false
        // A key that is lost alone is asked about again.
        entry.isWanted = true
        order(key, &entry)
        entry.drop(at: now, notBefore: gate)
        switch entry.slots.first(at: now) {
        case .due:
            use(&entry)
            return .granted
        case .later(let start): return .wait(until: start)
        case .none:
            let share = ownShare(entry, perSecond, since: since)
            entry.ownShare = OwnShareUse(
                share, at: now, interval: share.interval(of: perSecond),
                notAfter: circuit.isEnded ? .distantFuture : policy.end(since: since))
            return .ownShare(share)
        }
    }

    private mutating func use(_ entry: inout SharedKey) {
        entry.take()
        usedCount.addSaturated(1)
    }

    /// The daemon's own share begins where the line was leased to, and at another time in each daemon.
    private func ownShare(
        _ entry: SharedKey?, _ requestsPerSecond: Double, since: Instant
    ) -> OwnShare {
        let interval = Double(members.known) / requestsPerSecond
        let begin = max(since, entry?.reach ?? since)
        let phase = circuit.isShared ? entry?.trust.refusal?.phase ?? phase : phase
        return OwnShare(
            daemons: members.known, begin: begin + .saturating(seconds: interval * phase))
    }

    /// When the slot after `position` others starts at the earliest, as far as is known.
    func start(
        _ key: RuleKey, position: Int, requestsPerSecond perSecond: Double, at now: Instant
    ) -> Answer {
        switch mode(of: key, at: now) {
        case .paused: .paused
        case .share(let since): .ownShare(ownShare(keys[key], perSecond, since: since))
        case .shared:
            if let entry = keys[key], case .later(let first) = entry.slots.first(at: now),
                let share = endingShare(entry, OwnShare.Line(start: first, nextLook: first))
            {
                .ownShare(share)
            } else {
                .wait(until: startOfLine(key, position: position, perSecond, at: now))
            }
        }
    }

    /// When the slot after `position` others that the store has given, or will give, starts.
    func startOfLine(
        _ key: RuleKey, position: Int, _ perSecond: Double, at now: Instant
    ) -> Instant {
        guard let entry = keys[key] else { return now }
        if let start = entry.slots.start(position: position) { return max(now, start) }
        let next = max(now, entry.nextStart ?? now)
        let others = max(0, position - entry.slots.count)
        return next + .saturating(seconds: Double(others) / perSecond)
    }

    /// Forgets what is leased of a key whose rate has changed.
    mutating func forget(_ key: RuleKey) {
        guard let entry = keys.removeValue(forKey: key) else { return }
        if let timer = entry.timer { _ = timers.remove(timer) }
    }

    /// When loads no longer wait for a store that does not answer; nil while it does.
    var patienceEnd: Instant? { circuit.end(of: patience) }

    /// How long loads wait for an answer before the daemon continues without.
    ///
    /// With a store that answers at once it is short: its share for a moment costs a daemon less than
    /// loads that make no progress.
    var patience: Duration {
        guard roundTrip > .zero else { return FleetCircuit.answerLimit }
        return min(FleetCircuit.answerLimit, max(.milliseconds(100), roundTrip * 4))
    }

    /// How long before the last slot starts more are asked for.
    private var prefetch: Duration { max(roundTrip * 2, window / 2) }

    /// Asks for slots of a key, or for news of it, unless that is under way.
    mutating func order(_ key: RuleKey, _ entry: inout SharedKey) {
        if circuit.isShared, entry.exchange.order() { add(.lease(key)) }
    }

    private mutating func sweep(at now: Instant) {
        guard keys.count >= nextSweep else { return }
        // Slots of loads that were cancelled, for keys that no load asks about again.
        for key in keys.keys { keys[key]?.drop(at: now, notBefore: nil) }
        keys = keys.filter { !$0.value.isIdle(at: now) }
        nextSweep = max(Self.smallestSweep, 2 * keys.count)
    }
}
