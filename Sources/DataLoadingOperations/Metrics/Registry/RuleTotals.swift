// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What rates have admitted and how often they were closed, by their labels.
///
/// A limiter tells of a host without a rate of its own only while that is closed, forgets it later,
/// and forgets what it has counted for a rate that is replaced. What was seen of them then stays:
/// counters never fall (OpenMetrics 1.0, section "Counter"; OTLP's cumulative sums).
struct RuleTotals: Sendable {
    struct Total: Hashable, Sendable {
        var admitted: Int64 = 0
        var closings: Int64 = 0
    }

    /// What a look has found.
    struct Look: Sendable {
        /// What the limiter tells now, of the labels that have totals.
        var rules: [RuleLabels: [RuleState]] = [:]
        var totals: [RuleLabels: Total] = [:]
        /// That of all labels beyond the maximum; nil while there are none.
        var rest: Total?
    }

    /// A host, or a part of one, as the limiter counts them: several may have the same labels.
    private struct Key: Hashable, Sendable {
        let origin: String
        let part: String?
    }

    /// The number of label sets with totals of their own: parts may come and go with each reload.
    private let maxLabels: Int

    private var totals: [RuleLabels: Total] = [:]
    private var rest: Total?
    private var seen: [Key: Total] = [:]

    init(maxLabels: Int) {
        self.maxLabels = maxLabels
    }

    /// Adds what was counted since the last look, for hosts that have labels.
    ///
    /// The states must be newer than those of the last look.
    mutating func look(at states: [RuleState], _ hosts: HostTable) -> Look {
        var look = Look()
        var present: Set<Key> = []
        for state in states {
            let host = hosts.label(forURL: state.origin)
            guard host != .other else { continue }
            let key = Key(origin: state.origin, part: state.pathComponent)
            let labels = RuleLabels(host: host, part: state.pathComponent)
            present.insert(key)
            look.rules[labels, default: []].append(state)
            note(state, key, labels)
        }
        // A part that has no rule any more begins anew; a whole host may continue where it was.
        seen = seen.filter { $0.key.part == nil || present.contains($0.key) }
        look.totals = totals
        look.rules = look.rules.filter { totals[$0.key] != nil }
        look.rest = rest
        return look
    }

    private mutating func note(_ state: RuleState, _ key: Key, _ labels: RuleLabels) {
        let now = Total(admitted: state.admitted, closings: state.gateClosings)
        var old = seen.updateValue(now, forKey: key) ?? Total()
        // The limiter has forgotten it in between, and has counted from zero since.
        if now.admitted < old.admitted || now.closings < old.closings { old = Total() }
        if totals[labels] != nil || totals.count < maxLabels {
            totals[labels, default: Total()].add(now, since: old)
        } else {
            var sum = rest ?? Total()
            sum.add(now, since: old)
            rest = sum
        }
    }
}

extension RuleTotals.Total {
    /// Adds what was counted from one look to the next.
    fileprivate mutating func add(_ now: Self, since old: Self) {
        admitted.addSaturated(now.admitted - old.admitted)
        closings.addSaturated(now.closings - old.closings)
    }
}
