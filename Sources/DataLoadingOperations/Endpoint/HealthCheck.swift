// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Finds out whether a service works: asks for an echo from what all its loads need.
final class HealthCheck: Sendable {
    enum Readiness: Sendable {
        case starting
        case ready
        case ending
    }

    private struct State: Sendable {
        var readiness = Readiness.starting
        weak var service: DataLoaderService?
        /// The check that runs, whose result is that of all who ask meanwhile.
        var running: Task<Health, Never>?
        /// The parts that were asked for an echo and have not answered.
        var asked: Set<Part> = []
    }

    private enum Part: Sendable {
        case timer, transport
    }

    /// How long an echo may take.
    private static let limit = Duration.seconds(1)

    private let state = Locked(State())
    /// Not the service's own, which is examined.
    private let timerQueue: TimerQueue

    init(_ timekeeper: any Timekeeper) {
        timerQueue = TimerQueue(timekeeper: timekeeper)
    }

    func watch(_ service: DataLoaderService) {
        state.withLock { $0.service = service }
    }

    func note(_ readiness: Readiness) {
        state.withLock { $0.readiness = readiness }
    }

    /// The health of the service now; it takes a second at most.
    func now() async -> Health {
        let running = state.withLock { state in
            if let running = state.running { return running }
            let new = Task { [self] in
                let health = await check()
                self.state.withLock { $0.running = nil }
                return health
            }
            state.running = new
            return new
        }
        return await running.value
    }

    private func check() async -> Health {
        let (service, readiness) = state.withLock { ($0.service, $0.readiness) }
        guard let service else {
            let reason = readiness == .starting ? "it has not started" : "it has ended"
            return Health(isLive: true, isReady: false, reasons: [reason])
        }
        let timer = service.runtime.timerQueue
        async let timerAnswers = answers(.timer) {
            let waker = Waker()
            _ = timer.schedule(at: timer.now, for: waker, tag: 0)
            await waker.wait()
        }
        async let transportAnswers = answers(.transport, service.transportEcho)
        var reasons: [String] = []
        if await !timerAnswers { reasons.append("the service's timer does not answer") }
        if await !transportAnswers { reasons.append("the transport's thread does not answer") }
        let isLive = reasons.isEmpty
        let snapshot = service.snapshot()
        switch readiness {
        case .starting: reasons.append("it has not started")
        case .ending: reasons.append("it shuts down")
        case .ready where snapshot.stage != .open: reasons.append("it shuts down")
        case .ready: break
        }
        return Health(
            isLive: isLive, isReady: reasons.isEmpty, reasons: reasons + Self.remarks(on: snapshot))
    }

    /// What is wrong with an open service that takes loads all the same.
    ///
    /// Without names: nobody needs a token to read it.
    static func remarks(on snapshot: ServiceSnapshot) -> [String] {
        guard snapshot.stage == .open else { return [] }
        var remarks: [String] = []
        if let sharing = snapshot.sharing, sharing.source != .store {
            remarks.append("the store of shared rates does not answer")
        }
        switch snapshot.credentials.count(where: { $0.hasFailed && !$0.isUsable }) {
        case 0: break
        case 1: remarks.append("an authoriser could not get a credential")
        case let count: remarks.append("\(count) authorisers could not get a credential")
        }
        return remarks
    }

    /// Whether a part answers in time; one that owes an answer is not asked again, since each question is
    /// a task.
    private func answers(_ part: Part, _ echo: @escaping Watchdog.Echo) async -> Bool {
        guard state.withLock({ $0.asked.insert(part).inserted }) else { return false }
        return await timerQueue.wait(atMost: Self.limit) { [state] in
            await echo()
            _ = state.withLock { $0.asked.remove(part) }
        }
    }
}
