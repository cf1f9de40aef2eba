// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The rules, and the state of every key that is not idle: the state behind a limiter's lock.
struct RateTable: Sendable {
    private struct Bucket: Sendable {
        var slots = GCRA()
        var gate: Instant?
        /// The limit of the key's rule, so that most loads look up no rule; nil for another rule.
        var limit: GCRA.Rate?
    }

    /// The maximum length of a gate: one hour.
    static let maxGate = Duration.seconds(3_600)
    private static let smallestSweep = 64

    private let defaultRule: RateRule
    private var rules: [RuleKey: RateRule] = [:]
    private var pathComponents: [Origin: Set<Substring>] = [:]
    private var buckets: [RuleKey: Bucket] = [:]
    private var nextSweep = smallestSweep

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
        if isNew, let gate = buckets[RuleKey(origin: key.origin)]?.gate, gate > now {
            bucket(of: key, at: now) { $0.gate = gate }
        }
        rules[key] = rule
        buckets[key]?.limit = rule.limit
        if let rate = rule.limit { buckets[key]?.slots.change(to: rate, at: now) }
        return isNew
    }

    /// Closes a key until `delay` from now, unless it is closed for longer.
    ///
    /// Returns whether the gate changed.
    mutating func close(_ key: RuleKey, for delay: Duration, at now: Instant) -> Bool {
        let gate = now + min(delay, Self.maxGate)
        let old = buckets[key]?.gate ?? now
        guard delay > .zero, gate > old else { return false }
        bucket(of: key, at: now) { $0.gate = gate }
        return true
    }

    /// Clears the gate of a key; returns whether there was one.
    mutating func open(_ key: RuleKey) -> Bool {
        guard buckets[key]?.gate != nil else { return false }
        buckets[key]?.gate = nil
        return true
    }

    mutating func reserve(_ key: RuleKey, at now: Instant) -> Reservation {
        if let index = buckets.index(forKey: key), let rate = buckets.values[index].limit {
            let gate = buckets.values[index].gate
            let start = buckets.values[index].slots.reserve(at: now, notBefore: gate, rate: rate)
            return start.map { .wait(until: $0) } ?? .granted
        }
        let rate: GCRA.Rate
        switch rule(for: key) {
        case .paused: return .paused
        case .limited(let limit, _): rate = limit
        case .off:
            guard let gate = buckets[key]?.gate,
                let recovery = GateRecovery.rate(at: now, gate: gate)
            else { return .granted }
            rate = recovery
        }
        let start = bucket(of: key, at: now) { bucket in
            bucket.slots.reserve(at: now, notBefore: bucket.gate, rate: rate)
        }
        return start.map { .wait(until: $0) } ?? .granted
    }

    /// The start of the load after `position` others; nil when the key is paused.
    func start(_ key: RuleKey, position: Int, at now: Instant) -> Instant? {
        let bucket = buckets[key] ?? Bucket()
        let slots = bucket.slots
        switch rule(for: key) {
        case .paused: return nil
        case .limited(let rate, _):
            return slots.start(position: position, at: now, notBefore: bucket.gate, rate: rate)
        case .off:
            guard let gate = bucket.gate, let rate = GateRecovery.rate(at: now, gate: gate) else {
                return now
            }
            let first = slots.start(position: 0, at: now, notBefore: gate, rate: rate)
            return GateRecovery.start(position: position, from: first, gate: gate)
        }
    }

    /// Moves all state to a clock that is ahead by `shift`.
    mutating func rebase(by shift: Duration) {
        for key in buckets.keys {
            buckets[key]?.slots.rebase(by: shift)
            if let gate = buckets[key]?.gate { buckets[key]?.gate = gate + shift }
        }
    }

    private mutating func bucket<Result>(
        of key: RuleKey, at now: Instant, _ body: (inout Bucket) -> Result
    ) -> Result {
        if buckets.count >= nextSweep {
            buckets = buckets.filter { !isIdle($0.key, $0.value, at: now) }
            nextSweep = max(Self.smallestSweep, 2 * buckets.count)
        }
        let new = Bucket(limit: rule(for: key).limit)
        return body(&buckets[key, default: new])
    }

    private func isIdle(_ key: RuleKey, _ bucket: Bucket, at now: Instant) -> Bool {
        let slots = bucket.slots
        switch rule(for: key) {
        case .paused: return slots.isFull(at: now, notBefore: bucket.gate, rate: nil)
        case .limited(let rate, _):
            return slots.isFull(at: now, notBefore: bucket.gate, rate: rate)
        case .off:
            return bucket.gate.map { GateRecovery.rate(at: now, gate: $0) == nil } ?? true
        }
    }
}
