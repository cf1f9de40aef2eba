// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

extension DataLoaderService {
    /// Returns what the service does at the moment.
    ///
    /// Nothing is gathered between calls. It takes some microseconds for each origin, rate,
    /// address and credential, and holds back no load for longer than it takes to copy one of the
    /// lists. Any thread may call.
    public func snapshot() -> ServiceSnapshot {
        let load = runtime.admission.load
        let origins = originStates
        let rules = runtime.limiter.ruleStates
        let addresses = runtime.resolver.addressStates
        let credentials = credentialHolders.map(\.credentialState)
        let limit = ServiceSnapshot.listLimit
        return ServiceSnapshot(
            stage: runtime.openness.withLock { $0.stage.inSnapshot },
            liveLoads: runtime.liveLoads.live,
            waiting: load.waiting, queueCapacity: runtime.limits.queue, running: load.running,
            origins: Self.first(limit, of: origins) {
                ($0.busyness, $1.origin) > ($1.busyness, $0.origin)
            },
            otherOrigins: max(0, origins.count - limit),
            rules: Self.first(limit, of: rules) { $0.precedes($1) },
            otherRules: max(0, rules.count - limit),
            defaultRequestsPerSecond: runtime.limiter.usualRule.requestsPerSecond,
            sharing: runtime.limiter.sharingState,
            addresses: Array(
                (addresses.filter { $0.condition != .inUse }
                    + addresses.filter { $0.condition == .inUse }).prefix(limit)),
            otherAddresses: max(0, addresses.count - limit),
            credentials: Self.first(limit, of: credentials) { $0.precedes($1) },
            otherCredentials: max(0, credentials.count - limit),
            cache: runtime.cache?.statistics,
            transport: runtime.transport.first((any ObservableTransport).self)?.snapshot(),
            droppedConsumptionNotices: droppedConsumptionNotices)
    }

    private var originStates: [OriginState] {
        let slots = runtime.admission.origins
        let health = runtime.originHealth.states(at: runtime.timerQueue.now)
        return Set(slots.keys).union(health.keys).map { origin in
            OriginState(
                origin: origin.text, waiting: slots[origin]?.waiting ?? 0,
                running: slots[origin]?.running ?? 0,
                limit: runtime.admission.maximum(of: .shared, for: origin),
                retryBudget: health[origin]?.tokens ?? runtime.originHealth.balance(of: origin),
                isFailing: health[origin]?.isFailing ?? false)
        }
    }

    /// The authorisers that fetch their credential, each once, of however many factories.
    package var credentialHolders: [any ObservableAuthoriser] {
        var seen: Set<ObjectIdentifier> = []
        let holders = runtime.contexts.present.flatMap(\.authorisers)
            .compactMap { $0 as? any ObservableAuthoriser }
        return holders.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    private static func first<State>(
        _ limit: Int, of states: [State], by precedes: (State, State) -> Bool
    ) -> [State] {
        Array(states.sorted(by: precedes).prefix(limit))
    }
}

extension OriginState {
    fileprivate var busyness: Int { waiting + running }
}

extension RuleState {
    /// Closed ones come first, then by their names.
    fileprivate func precedes(_ other: RuleState) -> Bool {
        if (gateRemaining == nil) != (other.gateRemaining == nil) { return gateRemaining != nil }
        return (origin, pathComponent ?? "") < (other.origin, other.pathComponent ?? "")
    }
}

extension CredentialState {
    /// What cannot be used comes first, and then by names.
    fileprivate func precedes(_ other: CredentialState) -> Bool {
        if isUsable != other.isUsable { return !isUsable }
        return authoriser < other.authoriser
    }
}

extension ServiceStage {
    fileprivate var inSnapshot: ServiceSnapshot.Stage {
        switch self {
        case .open: .open
        case .closing: .closing
        case .over: .over
        }
    }
}
