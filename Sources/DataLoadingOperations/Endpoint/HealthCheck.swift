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
        /// The echoes that were asked for and have not come back.
        var waiting = 0
    }

    /// How long an echo may take.
    private static let limit = Duration.seconds(1)
    /// What does not answer is not asked more often than this: each question is a task.
    private static let maxWaiting = 32

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
        let (service, readiness) = state.withLock { ($0.service, $0.readiness) }
        guard let service else {
            let reason = readiness == .starting ? "it has not started" : "it has ended"
            return Health(isLive: true, isReady: false, reasons: [reason])
        }
        let timer = service.runtime.timerQueue
        async let timerAnswers = answers {
            let waker = Waker()
            _ = timer.schedule(at: timer.now, for: waker, tag: 0)
            await waker.wait()
        }
        async let transportAnswers = answers(service.transportEcho)
        var reasons: [String] = []
        if await !timerAnswers { reasons.append("the service's timer does not answer") }
        if await !transportAnswers { reasons.append("the transport's thread does not answer") }
        let isLive = reasons.isEmpty
        switch readiness {
        case .starting: reasons.append("it has not started")
        case .ending: reasons.append("it shuts down")
        case .ready where service.snapshot().stage != .open: reasons.append("it shuts down")
        case .ready: break
        }
        return Health(isLive: isLive, isReady: reasons.isEmpty, reasons: reasons)
    }

    private func answers(_ echo: @escaping Watchdog.Echo) async -> Bool {
        let mayAsk = state.withLock { state in
            guard state.waiting < Self.maxWaiting else { return false }
            state.waiting += 1
            return true
        }
        guard mayAsk else { return false }
        return await timerQueue.wait(atMost: Self.limit) { [state] in
            await echo()
            state.withLock { $0.waiting -= 1 }
        }
    }
}
