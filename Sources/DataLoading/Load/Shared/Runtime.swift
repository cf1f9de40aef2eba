// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
package import DataLoadingTransport
package import DataLoadingSupport
import Dispatch

/// The shared state of a service's loads: clock, random numbers, transport and tables.
package final class Runtime: Sendable {
    package let timekeeper: any Timekeeper
    package let random: RandomSource
    /// Runs the library's own deferred work; user code runs on its factory's queue instead.
    ///
    /// Dispatch gives a serial queue without a target a thread whenever it has work, however busy
    /// the global queues are.
    let queue = DispatchQueue(label: "DataLoading.loads")
    package let timerQueue: TimerQueue
    let limiter: RateLimiter
    let resolver: HostResolver
    let admission: Admission
    let originHealth: OriginHealth
    package let transport: any Transport
    let cache: ResponseCache?
    let observers = ObserverList()
    package let liveLoads: LiveLoads
    let limits: Limits
    let planner: RetryPlanner
    let attempts: AttemptSettings
    /// Adds the credential for the proxy; nil without one.
    let proxyAuthoriser: ProxyAuthoriser?
    /// Whether loads may start.
    let openness = Locked(Openness())
    let contexts = ContextList()
    /// The trust policy of attempts that start now.
    let trust: Locked<ServerTrustPolicy?>
    /// The error of the first malformed setting, with which every load ends.
    let fault: DataLoaderError?

    init(
        limiter: RateLimiter, resolver: HostResolver, transport: any Transport, limits: Limits,
        retry: RetryConfiguration, attempts: AttemptSettings, trustPolicy: ServerTrustPolicy?,
        proxyAuthoriser: ProxyAuthoriser? = nil, cache: ResponseCache?, fault: DataLoaderError?,
        timekeeper: any Timekeeper,
        random: RandomSource
    ) {
        self.timekeeper = timekeeper
        self.random = random
        timerQueue = TimerQueue(timekeeper: timekeeper)
        self.limiter = limiter
        limiter.adopt(timekeeper, random: random)
        self.resolver = resolver
        resolver.adopt(timekeeper, random: random)
        self.limits = limits
        admission = Admission(limits: limits, limiter: limiter, timerQueue: timerQueue)
        originHealth = OriginHealth(retry)
        planner = RetryPlanner(
            configuration: retry, originHealth: originHealth, random: random)
        self.transport = transport
        self.cache = cache
        liveLoads = LiveLoads(timerQueue: timerQueue)
        self.attempts = attempts
        self.proxyAuthoriser = proxyAuthoriser
        trust = Locked(trustPolicy)
        self.fault = fault
    }

    /// Whether a shut-down has begun.
    var isClosing: Bool { openness.withLock { $0.stage != .open } }

    /// Says goodbye to the daemons that the rates are shared with, if no other service uses them.
    ///
    /// Only the first call has an effect; it returns what is to be awaited, nil without such daemons.
    func leaveFleet() -> (@Sendable () async -> Void)? {
        let isFirst = openness.withLock { openness in
            defer { openness.hasLeftFleet = true }
            return !openness.hasLeftFleet
        }
        guard isFirst, let keeper = limiter.serviceEnded() else { return nil }
        return { await keeper.sayGoodbye() }
    }

    deinit {
        admission.close()
        if let goodbye = leaveFleet() { Task.detached { await goodbye() } }
    }
}
