// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Asks the provider for what a limiter wants to know, each time in a task of its own; a provider with
/// a thread is asked for leases at once, and its tasks run there.
///
/// What to ask, and what an answer means, is decided by `SharedRates` under the limiter's lock.
final class LeaseKeeper: Sendable {
    private struct Setting: Sendable {
        var alarm: (any Alarm)?
        var instant = Instant.distantFuture
    }

    private let provider: any QuotaProvider
    private let executing: (any ExecutingQuotaProvider)?
    /// Weak, because the limiter keeps this.
    private weak let limiter: RateLimiter?
    private let timekeeper: any Timekeeper
    private let random: RandomSource
    private let setting = Locked(Setting())

    init(
        _ provider: any QuotaProvider, for limiter: RateLimiter, timekeeper: any Timekeeper,
        random: RandomSource
    ) {
        self.provider = provider
        executing = provider as? any ExecutingQuotaProvider
        self.limiter = limiter
        self.timekeeper = timekeeper
        self.random = random
        let alarm = timekeeper.makeAlarm { [weak self] in self?.wake() }
        setting.withLock { $0.alarm = alarm }
    }

    deinit {
        setting.withLock { $0.alarm.take() }?.cancel()
    }

    /// Begins what is ordered; no lock may be held.
    func carryOut() {
        guard let limiter else { return }
        let (orders, earliest) = limiter.withTable { table, _ in
            (table.shared?.takeOrders() ?? [], table.shared?.timers.earliest)
        }
        for order in orders {
            timekeeper.workBegan()
            begin(order)
        }
        setAlarm(for: earliest)
    }

    private func begin(_ order: SharedRates.Order) {
        if case .lease(let key) = order, let executing {
            lease(key, from: executing)
        } else if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *),
            let executing
        {
            Task.detached(executorPreference: executing.taskExecutor) { await self.perform(order) }
        } else {
            Task.detached { await self.perform(order) }
        }
    }

    /// Says goodbye.
    func sayGoodbye() async {
        setting.withLock { $0.alarm.take() }?.cancel()
        await provider.shutDown()
    }

    /// Sets the alarm if it is set for a later instant; one that comes too early is set again.
    private func setAlarm(for instant: Instant?) {
        setting.withLock { setting in
            guard let instant, instant < setting.instant else { return }
            setting.instant = instant
            setting.alarm?.set(for: instant)
        }
    }

    private func wake() {
        setting.withLock { $0.instant = .distantFuture }
        let chance = chance
        let news = limiter?.withTable { table, clock in
            table.shared?.wake(at: clock.now, chance: chance)
        }
        carryOut()
        if let news = news ?? nil { tell(news) }
    }

    private func tell(_ news: AskAgain) {
        if news.everybody { limiter?.notify(.all(moved: [])) }
        for key in news.keys { limiter?.notify(.key(key)) }
    }

    private var chance: Double {
        random.withGenerator { Double.random(in: 0..<1, using: &$0) }
    }

    private func perform(_ order: SharedRates.Order) async {
        switch order {
        case .lease(let key): await lease(key)
        case .close(let key): await close(key)
        case .heartbeat: await beat()
        }
    }

    private func lease(_ key: RuleKey) async {
        guard let (request, number) = limiter?.beginLease(of: key) else { return rest() }
        rest()
        do {
            leaseAnswered(key, number, .success(try await provider.lease(request)))
        } catch {
            leaseAnswered(key, number, .failure(error))
        }
    }

    private func lease(_ key: RuleKey, from provider: any ExecutingQuotaProvider) {
        guard let (request, number) = limiter?.beginLease(of: key) else {
            // Loads that come and go may order again and again, and this thread may be one of theirs.
            Task.detached { self.rest() }
            return
        }
        provider.lease(request) { self.leaseAnswered(key, number, $0) }
        rest()
    }

    private func leaseAnswered(
        _ key: RuleKey, _ number: UInt64, _ answer: Result<QuotaLease, any Error>
    ) {
        timekeeper.workBegan()
        switch answer {
        case .success(let lease):
            limiter?.leaseAnswered(key, number, lease)
        case .failure:
            let chance = chance
            let news = limiter?.withTable { table, clock in
                table.shared?.failed(key, number, at: clock.now, chance: chance)
            }
            if let news = news ?? nil { tell(news) }
        }
        rest()
    }

    private func close(_ key: RuleKey) async {
        let closing = limiter?.withTable { table, clock in
            table.shared?.beginClosing(key, at: clock.now)
        }
        guard let (delay, number) = closing else { return rest() }
        rest()
        let isTold = (try? await provider.close(QuotaKey(key), for: delay)) != nil
        timekeeper.workBegan()
        let chance = chance
        limiter?.withTable { table, clock in
            table.shared?.closingEnded(
                key, number, isTold: isTold, at: clock.now, chance: chance)
        }
        rest()
    }

    private func beat() async {
        let number = limiter?.withTable { table, clock in
            table.shared?.beginHeartbeat(at: clock.now)
        }
        guard let number else { return rest() }
        rest()
        let view = try? await provider.heartbeat()
        timekeeper.workBegan()
        let chance = chance
        if let view {
            limiter?.heartbeatAnswered(number, view, chance: chance)
        } else {
            limiter?.withTable { table, clock in
                table.shared?.heartbeatFailed(number, at: clock.now, chance: chance)
            }
        }
        rest()
    }

    /// Carries out what came of the work, which ends, or waits for the provider.
    private func rest() {
        carryOut()
        timekeeper.workEnded()
    }
}
