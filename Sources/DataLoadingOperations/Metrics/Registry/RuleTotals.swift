// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What rates have admitted and how often they were closed, by their labels.
///
/// A limiter tells of a host without a rate of its own only while that is busy, forgets it later, and
/// forgets what it has counted for a rate that is replaced. What was seen of them then stays: counters
/// never fall (OpenMetrics 1.0, section "Counter"; OTLP's cumulative sums). What nobody has seen, and
/// what hosts without labels did, is told together, so that the sums are the limiter's.
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
        /// The hosts without labels; nil while there is nothing to tell of them.
        var others: Others?
    }

    /// The hosts without labels, together.
    struct Others: Sendable {
        let total: Total
        /// The highest of their rates; nil without a limit.
        let requestsPerSecond: Double?
        /// The longest time for which one is closed; zero when all are open.
        let gateRemaining: Duration

        fileprivate init?(
            _ figures: RateFigures, _ states: [RuleState], without known: [Total]
        ) {
            var total = Total(admitted: figures.admitted, closings: figures.gateClosings)
            for part in known { total = total.minus(part) }
            let rates = states.compactMap(\.requestsPerSecond)
            requestsPerSecond = (rates + [figures.defaultRequestsPerSecond].compactMap { $0 }).max()
            guard requestsPerSecond != nil || total != Total() else { return nil }
            self.total = total
            gateRemaining = states.compactMap(\.gateRemaining).max() ?? .zero
        }
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

    /// Adds what was counted since the last look.
    ///
    /// The figures must be newer than those of the last look.
    mutating func look(at figures: RateFigures, _ hosts: HostTable) -> Look {
        var look = Look()
        var present: Set<Key> = []
        var others: [RuleState] = []
        for state in figures.states {
            let host = hosts.label(forURL: state.origin)
            guard host != .other else {
                others.append(state)
                continue
            }
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
        look.others = Others(figures, others, without: totals.values + (rest.map { [$0] } ?? []))
        return look
    }

    private mutating func note(_ state: RuleState, _ key: Key, _ labels: RuleLabels) {
        let now = Total(admitted: state.admitted, closings: state.gateClosings)
        var old = seen.updateValue(now, forKey: key) ?? Total()
        // The limiter has forgotten it in between, and has counted from zero since.
        if now.admitted < old.admitted || now.closings < old.closings { old = Total() }
        if totals[labels] != nil || totals.count < maxLabels {
            totals[labels, default: Total()].add(now.minus(old))
        } else {
            var sum = rest ?? Total()
            sum.add(now.minus(old))
            rest = sum
        }
    }
}

extension RuleTotals.Total {
    fileprivate mutating func add(_ more: Self) {
        admitted.addSaturated(more.admitted)
        closings.addSaturated(more.closings)
    }

    /// What a later look has found beyond an earlier one; never less than nothing.
    fileprivate func minus(_ old: Self) -> Self {
        Self(admitted: max(0, admitted - old.admitted), closings: max(0, closings - old.closings))
    }
}
