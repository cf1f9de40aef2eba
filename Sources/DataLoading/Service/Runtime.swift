// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// What the loads of one service share: its seams to time, chance and wire, and its tables.
final class Runtime: Sendable {
    let timekeeper: any Timekeeper
    let random: RandomSource
    /// Where the library goes on later by itself; never for users' code, which has its factory's queue.
    ///
    /// A serial queue without a target has a thread whenever it has work, however busy the global
    /// queues are.
    let queue = DispatchQueue(label: "DataLoading.loads")
    let agenda: Agenda
    let limiter: RateLimiter
    let resolver: HostResolver
    let admission: Admission
    let budget: RetryBudget
    let outages = Outages()
    let transport: any Transport
    let observers = ObserverList()
    let ledger: Ledger
    let userAgent: String?
    let limits: Limits
    let timeouts: Timeouts
    let planner: RetryPlanner
    let serverTrustPolicy: ServerTrustPolicy?
    let refusesPrivateAddresses: Bool
    let http2: HTTP2Use

    init(
        _ configuration: DataLoaderService.Configuration, timekeeper: any Timekeeper,
        random: RandomSource
    ) {
        self.timekeeper = timekeeper
        self.random = random
        agenda = Agenda(timekeeper: timekeeper)
        limiter = configuration.rateLimiter
        limiter.adopt(timekeeper)
        resolver = configuration.resolver
        resolver.adopt(timekeeper, random: random)
        limits = configuration.limits
        admission = Admission(limits: limits, limiter: limiter, agenda: agenda)
        budget = RetryBudget(configuration.retry)
        planner = RetryPlanner(
            configuration: configuration.retry, budget: budget, random: random)
        transport = configuration.transport ?? DefaultTransport.make(limits)
        ledger = Ledger(agenda: agenda)
        userAgent = configuration.userAgent
        timeouts = configuration.timeouts
        serverTrustPolicy = configuration.serverTrustPolicy
        refusesPrivateAddresses = configuration.refusesPrivateAddresses
        http2 = configuration.http2
    }

    /// What was set, and cannot be meant, for a load's host or URL.
    func malformedSetting(for target: RequestTarget) -> DataLoaderError? {
        resolver.malformedSetting(forHost: target.origin.host)
            ?? limiter.malformedSetting(for: target)
    }

    deinit {
        admission.close()
    }
}
