// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

extension MetricRegistry {
    /// Adds what the service itself knows, read with each scrape; the registry does not keep it.
    func observe(_ service: DataLoaderService) {
        add { [weak self, weak service, hosts, maxSeries] visitor in
            guard let self, let service else { return }
            let snapshot = service.snapshot()
            visitor.begin(.observerDropped)
            visitor.add(
                .whole(Int64(snapshot.droppedConsumptionNotices)), DropLabels(signal: .notices))
            visitor.begin(.queueCapacity)
            visitor.add(.whole(Int64(snapshot.queueCapacity)), NoLabels())
            // All of them: the snapshot leaves some out, and not always the same ones.
            visitor.add(service.resolver.addressStates, hosts, maxSeries: maxSeries)
            if let sharing = snapshot.sharing { visitor.add(sharing) }
            if let cache = snapshot.cache { visitor.add(cache) }
            if let provider = service.rateLimiter.measuredProvider {
                visitor.add(provider.storeOperations, of: provider.storeSystem)
            }
            if let transport = snapshot.transport {
                visitor.add(transport.connections, running: activeRequests, hosts)
                visitor.begin(.loopDelay)
                visitor.add(.real(transport.longestRound.inSeconds), NoLabels())
            }
            visitor.add(snapshot.origins, hosts)
            // Read under the lock: of two scrapes at once, the later look has the later numbers.
            visitor.add(rules.withLock { $0.look(at: service.rateLimiter.rateFigures, hosts) })
            let holders = service.credentialHolders
            visitor.add(credentials.withLock { $0.look(at: holders) })
        }
    }
}

extension MetricVisitor {
    /// Adds the queues and budgets of origins; those without labels of their own are one.
    fileprivate func add(_ origins: [OriginState], _ hosts: HostTable) {
        let byHost = Dictionary(grouping: origins) { hosts.label(forURL: $0.origin) }
        guard !byHost.isEmpty else { return }
        begin(.queueSize)
        for (host, states) in byHost {
            add(.whole(states.reduce(0) { $0 + Int64($1.waiting) }), HostLabels(host: host))
        }
        let budgets = byHost.compactMapValues { $0.compactMap(\.retryBudget).min() }
        guard !budgets.isEmpty else { return }
        begin(.retryBudget)
        // Of several hosts the one that has least.
        for (host, budget) in budgets { add(.whole(Int64(budget)), HostLabels(host: host)) }
    }

    /// Adds rates and what they have admitted; those of hosts without labels are one.
    fileprivate func add(_ look: RuleTotals.Look) {
        let others = RuleLabels(host: .other, part: nil)
        var totals = look.totals
        var rates = look.rules.compactMapValues { $0.compactMap(\.requestsPerSecond).max() }
        // Zeros too, of hosts that were closed before.
        var gates = look.totals.mapValues { _ in Duration.zero }
        gates.merge(look.rules.mapValues { $0.compactMap(\.gateRemaining).max() ?? .zero }) { $1 }
        totals[others] = look.others?.total
        rates[others] = look.others?.requestsPerSecond
        gates[others] = look.others?.gateRemaining
        guard !totals.isEmpty || look.rest != nil else { return }
        if !rates.isEmpty { begin(.rateLimit) }
        for (labels, rate) in rates { add(.real(rate), labels) }
        begin(.rateAdmitted)
        for (labels, total) in totals { add(.whole(total.admitted), labels) }
        if let rest = look.rest { add(.whole(rest.admitted), OverflowLabels()) }
        if !gates.isEmpty { begin(.gateRemaining) }
        for (labels, gate) in gates { add(.real(gate.inSeconds), labels) }
        begin(.gateClosings)
        for (labels, total) in totals { add(.whole(total.closings), labels) }
        if let rest = look.rest { add(.whole(rest.closings), OverflowLabels()) }
    }
}
