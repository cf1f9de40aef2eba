// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What rates have admitted and how often they were closed, by their labels.
///
/// A limiter tells of a host without a rate of its own only while that is busy, forgets it later, and
/// forgets what it has counted for a rate that is replaced. What was seen of them then stays: counters
/// never fall (OpenMetrics 1.0, section "Counter"; OTLP's cumulative sums). What hosts without labels
/// did is told together, with what the limiter has forgotten before it was seen, so that the sums are
/// the limiter's. What a host did before it got its label stays there.
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
    }

    /// A host, or a part of one, as the limiter counts them: several may have the same labels.
    private struct Key: Hashable, Sendable {
        let origin: String
        let part: String?
    }

    private let maxSeries: Int
    /// The number of label sets with totals of their own: parts may come and go with each reload.
    private var maxLabels: Int { max(0, maxSeries - 2) }

    private var totals: [RuleLabels: Total] = [:]
    private var rest: Total?
    private var others = Total()
    private var seen: [Key: Total] = [:]
    /// What the limiter had counted in all, and the number of hosts with labels, at the last look; nil
    /// before the first one.
    private var last: (all: Total, hosts: Int)?
    /// The origins without labels at the last look, as far as they are few: a port of a known host
    /// may get its labels later than the host.
    private var withoutLabels: Set<String> = []
    private static let maxWithoutLabels = 1_024
    /// What this look has added to labels.
    private var added = Total()

    /// - Parameter maxSeries: The maximum number of label sets, that of all other hosts included.
    init(maxSeries: Int) {
        self.maxSeries = maxSeries
    }

    /// Adds what was counted since the last look.
    ///
    /// The figures must be newer than those of the last look.
    mutating func look(at figures: RateFigures, _ hosts: HostTable) -> Look {
        var look = Look()
        var present: Set<Key> = []
        var unlabelled: [RuleState] = []
        for state in figures.states {
            let host = hosts.label(forURL: state.origin)
            guard host != .other else {
                unlabelled.append(state)
                continue
            }
            let key = Key(origin: state.origin, part: state.pathComponent)
            let labels = RuleLabels(host: host, part: state.pathComponent?.cutForLabel)
            present.insert(key)
            look.rules[labels, default: []].append(state)
            note(state, key, labels)
        }
        // A part that has no rule any more begins anew; a whole host may continue where it was.
        seen = seen.filter { $0.key.part == nil || present.contains($0.key) }
        let all = Total(admitted: figures.admitted, closings: figures.gateClosings)
        others.add(all.minus(last?.all ?? Total()).minus(added))
        (last, added) = ((all, hosts.count), Total())
        withoutLabels = Set(unlabelled.prefix(Self.maxWithoutLabels).map(\.origin))
        look.totals = totals
        look.rules = look.rules.filter { totals[$0.key] != nil }
        look.rest = rest
        if maxSeries < 2 {
            // There is room for one set, that of all.
            if rest != nil || others != Total() { look.rest = (rest ?? Total()).plus(others) }
        } else {
            look.others = othersNow(figures, unlabelled)
        }
        return look
    }

    private func othersNow(_ figures: RateFigures, _ states: [RuleState]) -> Others? {
        let rates = states.compactMap(\.requestsPerSecond)
        let highest = (rates + [figures.defaultRequestsPerSecond].compactMap(\.self)).max()
        guard highest != nil || others != Total() else { return nil }
        return Others(
            total: others, requestsPerSecond: highest,
            gateRemaining: states.compactMap(\.gateRemaining).max() ?? .zero)
    }

    private mutating func note(_ state: RuleState, _ key: Key, _ labels: RuleLabels) {
        let now = Total(admitted: state.admitted, closings: state.gateClosings)
        // What a host did until it got its label was told with the others'.
        let isNew =
            last.map { Int(labels.host.index) >= $0.hosts || withoutLabels.contains(key.origin) }
            ?? false
        var old = seen.updateValue(now, forKey: key) ?? (isNew ? now : Total())
        // The limiter has forgotten it in between, and has counted from zero since.
        if now.admitted < old.admitted || now.closings < old.closings { old = Total() }
        let more = now.minus(old)
        added.add(more)
        if totals[labels] != nil || totals.count < maxLabels {
            totals[labels, default: Total()].add(more)
        } else {
            rest = (rest ?? Total()).plus(more)
        }
    }
}

extension RuleTotals.Total {
    fileprivate mutating func add(_ more: Self) {
        admitted.addSaturated(more.admitted)
        closings.addSaturated(more.closings)
    }

    fileprivate func plus(_ more: Self) -> Self {
        var sum = self
        sum.add(more)
        return sum
    }

    /// What a later look has found beyond an earlier one; never less than nothing.
    fileprivate func minus(_ old: Self) -> Self {
        Self(admitted: max(0, admitted - old.admitted), closings: max(0, closings - old.closings))
    }
}
