// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The rules, and the state of every key that is not idle: the state behind a limiter's lock.
struct RateTable: Sendable {
    /// The maximum length of a gate: one hour.
    static let maxGate = Duration.seconds(3_600)
    private static let smallestSweep = 64

    private(set) var defaultRule: RateRule
    private(set) var rules: [RuleKey: RateRule] = [:]
    private var pathComponents: [Origin: Set<Substring>] = [:]
    private var buckets: [RuleKey: Bucket] = [:]
    /// The counts of keys with a rule of their own, up to when they were last idle.
    private var earlier: [RuleKey: Counts] = [:]
    /// The counts of keys that were forgotten.
    private var forgotten = Counts()
    private var nextSweep = smallestSweep
    /// What is shared with other daemons; nil when nothing is.
    var shared: SharedRates?
    /// Whether something is shared: a flag, because every load looks at it.
    private(set) var isShared = false

    init(defaultRule: RateRule) {
        self.defaultRule = defaultRule
    }

    /// Whether there is no limit at all, so that no caller needs to read the clock.
    var isUnlimited: Bool {
        guard case .off = defaultRule else { return false }
        return rules.isEmpty && buckets.isEmpty
    }

    /// The number of keys that take memory besides their rule.
    var busyKeys: Int { buckets.count }

    func key(for target: RequestTarget) -> RuleKey {
        guard !pathComponents.isEmpty, let known = pathComponents[target.origin],
            let component = target.firstPathComponent, let index = known.firstIndex(of: component)
        else { return RuleKey(origin: target.origin) }
        return RuleKey(origin: target.origin, pathComponent: known[index])
    }

    func rule(for key: RuleKey) -> RateRule {
        rules[key] ?? defaultRule
    }

    /// Sets a rule; returns whether URLs may now belong to another key than before.
    mutating func set(_ rule: RateRule, for key: RuleKey, at now: Instant) -> Bool {
        var isNew = false
        if let component = key.pathComponent {
            isNew = pathComponents[key.origin, default: []].insert(component).inserted
        }
        if isNew { passGate(from: RuleKey(origin: key.origin), to: key, now) }
        if shared != nil, self.rule(for: key).limit != rule.limit { shared?.forget(key) }
        rules[key] = rule
        buckets[key]?.limit = rule.limit
        if let rate = rule.limit { buckets[key]?.slots.change(to: rate, at: now) }
        return isNew
    }

    /// Replaces the default and every rule; returns the keys whose targets may now belong to others.
    ///
    /// The gate of a part that is none any more holds for its whole origin: the server asked for it.
    mutating func replace(
        _ rules: [RuleKey: RateRule], default defaultRule: RateRule, at now: Instant
    ) -> Set<RuleKey> {
        let old = Set(self.rules.keys.filter { $0.pathComponent != nil })
        let new = Set(rules.keys.filter { $0.pathComponent != nil })
        for key in shared.map({ Array($0.keys.keys) }) ?? []
        where rule(for: key).limit != (rules[key] ?? defaultRule).limit {
            shared?.forget(key)
        }
        self.defaultRule = defaultRule
        self.rules = rules
        for (key, counts) in earlier where rules[key] == nil {
            if buckets[key] == nil { forgotten += counts }
            buckets[key]?.counts += counts  // What is still busy keeps counting.
            earlier[key] = nil
        }
        pathComponents = [:]
        for key in new {
            guard let component = key.pathComponent else { continue }
            pathComponents[key.origin, default: []].insert(component)
        }
        for key in new.subtracting(old) {
            passGate(from: RuleKey(origin: key.origin), to: key, now)
        }
        for key in old.subtracting(new) {
            passGate(from: key, to: RuleKey(origin: key.origin), now)
            forgotten += buckets.removeValue(forKey: key)?.counts ?? Counts()
        }
        for key in buckets.keys {
            let limit = rule(for: key).limit
            buckets[key]?.limit = limit
            if let limit { buckets[key]?.slots.change(to: limit, at: now) }
        }
        let split = new.subtracting(old).map { RuleKey(origin: $0.origin) }
        return old.subtracting(new).union(split)
    }

    /// Closes a key for as long as another one is closed.
    private mutating func passGate(from other: RuleKey, to key: RuleKey, _ now: Instant) {
        guard let gate = buckets[other]?.gate, gate > now else { return }
        bucket(of: key, at: now) { $0.gate = max($0.gate ?? gate, gate) }
    }

    /// Closes a key until `delay` from now, unless it is closed for longer.
    ///
    /// Returns whether the gate changed.
    mutating func close(_ key: RuleKey, for delay: Duration, at now: Instant) -> Bool {
        let gate = now + min(delay, Self.maxGate)
        let old = buckets[key]?.gate ?? now
        guard delay > .zero, gate > old else { return false }
        bucket(of: key, at: now) { bucket in
            bucket.gate = gate
            bucket.counts.closings.addSaturated(1)
        }
        return true
    }

    /// Closes a key until an instant that another daemon told; returns whether loads must wait longer.
    ///
    /// The instant is known to some milliseconds only, so that a little more is no change.
    mutating func learn(_ gate: Instant, for key: RuleKey, at now: Instant) -> Bool {
        let known = key.pathComponent.map { pathComponents[key.origin]?.contains($0) ?? false }
        let gate = min(gate, now + Self.maxGate)
        let old = buckets[key]?.gate ?? now
        guard known ?? true, gate > now, gate > old + .milliseconds(5) else { return false }
        bucket(of: key, at: now) { bucket in
            bucket.gate = gate
            if old <= now { bucket.counts.closings.addSaturated(1) }
        }
        return true
    }

    /// Clears the gate of a key; returns whether there was one.
    mutating func open(_ key: RuleKey) -> Bool {
        guard buckets[key]?.gate != nil else { return false }
        buckets[key]?.gate = nil
        return true
    }

    mutating func reserve(_ key: RuleKey, at now: Instant) -> Reservation {
        isShared ? reserveShared(key, at: now) : reserveAlone(key, at: now)
    }

    /// Shares from now on.
    mutating func share(_ rates: SharedRates) {
        shared = rates
        isShared = true
    }

    /// Takes a slot of a rate that holds for several daemons together.
    private mutating func reserveShared(_ key: RuleKey, at now: Instant) -> Reservation {
        guard case .limited(_, let perSecond, _) = rule(for: key) else {
            return reserveAlone(key, at: now)
        }
        let gate = buckets[key]?.gate
        if let gate, gate > now { return .wait(until: gate) }
        switch shared?.reserve(key, requestsPerSecond: perSecond, notBefore: gate, at: now) {
        case .granted:
            bucket(of: key, at: now) { $0.counts.admitted.addSaturated(1) }
            return .granted
        case .wait(let instant): return .wait(until: instant)
        case .paused, nil: return .paused
        case .ownShare(let share):
            guard let rate = share.rate(of: perSecond) else { return .paused }
            return bucket(of: key, at: now) { $0.reserve(share, of: perSecond, at: now, rate) }
        }
    }

    private mutating func reserveAlone(_ key: RuleKey, at now: Instant) -> Reservation {
        if let index = buckets.index(forKey: key), let rate = buckets.values[index].limit {
            return buckets.values[index].reserve(at: now, rate)
        }
        let rate: GCRA.Rate
        switch rule(for: key) {
        case .paused: return .paused
        case .limited(let limit, _, _): rate = limit
        case .off:
            guard let gate = buckets[key]?.gate,
                let recovery = GateRecovery.rate(at: now, gate: gate, daemons: daemons)
            else { return .granted }
            let change = GateRecovery.change(after: now, gate: gate)
            return bucket(of: key, at: now) { $0.recover(at: now, recovery, until: change) }
        }
        return bucket(of: key, at: now) { $0.reserve(at: now, rate) }
    }

    /// The start of the load after `position` others; nil when the key is paused.
    func start(_ key: RuleKey, position: Int, at now: Instant) -> Instant? {
        let bucket = buckets[key] ?? Bucket()
        let slots = bucket.slots
        switch rule(for: key) {
        case .paused: return nil
        case .limited(let rate, let perSecond, _):
            let gate = bucket.gate
            switch shared?.start(key, position: position, requestsPerSecond: perSecond, at: now) {
            case nil, .granted:
                return slots.start(position: position, at: now, notBefore: gate, rate: rate)
            case .wait(let instant): return max(instant, gate ?? now)
            case .paused: return nil
            case .ownShare(let share):
                guard let rate = share.rate(of: perSecond) else { return nil }
                var own = slots
                own.skip(to: share.begin)
                let first = own.start(position: 0, at: now, notBefore: gate, rate: rate)
                let number = share.count(from: first, of: perSecond)
                guard position >= number else {
                    return own.start(position: position, at: now, notBefore: gate, rate: rate)
                }
                let line = shared?.startOfLine(
                    key, position: position - number, perSecond, at: now)
                return line.map { max($0, gate ?? $0) }
            }
        case .off:
            guard let gate = bucket.gate,
                let rate = GateRecovery.rate(at: now, gate: gate, daemons: daemons)
            else { return now }
            var recovering = slots
            recovering.change(to: rate, at: now)
            let first = recovering.start(position: 0, at: now, notBefore: gate, rate: rate)
            return GateRecovery.start(
                position: position, from: first, gate: gate, daemons: daemons)
        }
    }

    /// Among how many daemons a rate without a store is divided.
    private var daemons: Int { shared?.members.known ?? 1 }

    /// Moves all state to a clock that is ahead by `shift`.
    mutating func rebase(by shift: Duration) {
        for key in buckets.keys {
            buckets[key]?.slots.rebase(by: shift)
            if let gate = buckets[key]?.gate { buckets[key]?.gate = gate + shift }
        }
    }

    /// The rules, and the keys that are closed without one, with what each has done.
    func states(at now: Instant) -> [State] {
        states(at: now) { bucket in bucket.gate.map { $0 > now } ?? false }
    }

    /// The rules, and the keys without one that are not forgotten.
    func busyStates(at now: Instant) -> [State] { states(at: now) { _ in true } }

    private func states(at now: Instant, also isMeant: (Bucket) -> Bool) -> [State] {
        let others = buckets.compactMap { isMeant($0.value) ? $0.key : nil }
        return Set(rules.keys).union(others).map { key in
            var counts = earlier[key] ?? Counts()
            counts += buckets[key]?.counts ?? Counts()
            return (key, rule(for: key), buckets[key]?.gate.flatMap { $0 > now ? $0 : nil }, counts)
        }
    }

    /// What all keys have done, those included that were forgotten; it never falls.
    var allCounts: Counts {
        var all = forgotten
        for counts in earlier.values { all += counts }
        for bucket in buckets.values { all += bucket.counts }
        return all
    }

    private mutating func bucket<Result>(
        of key: RuleKey, at now: Instant, _ body: (inout Bucket) -> Result
    ) -> Result {
        if buckets.count >= nextSweep {
            for (key, bucket) in buckets where isIdle(key, bucket, at: now) {
                if rules[key] == nil {
                    forgotten += bucket.counts
                } else {
                    earlier[key, default: Counts()] += bucket.counts
                }
                buckets[key] = nil
            }
            nextSweep = max(Self.smallestSweep, 2 * buckets.count)
        }
        let new = Bucket(limit: rule(for: key).limit)
        return body(&buckets[key, default: new])
    }

    private func isIdle(_ key: RuleKey, _ bucket: Bucket, at now: Instant) -> Bool {
        let slots = bucket.slots
        switch rule(for: key) {
        case .paused: return slots.isFull(at: now, notBefore: bucket.gate, rate: nil)
        case .limited(let rate, _, _):
            return slots.isFull(at: now, notBefore: bucket.gate, rate: rate)
        case .off:
            return bucket.gate.map { GateRecovery.rate(at: now, gate: $0) == nil } ?? true
        }
    }
}
