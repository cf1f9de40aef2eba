// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Tells systemd that the process works, as long as what matters in it answers.
///
/// A thread that always reported would prove nothing. Twice in the interval that systemd allows,
/// the watchdog asks for an echo from each part of the process, such as an event loop. It reports
/// if all came back within a quarter of the interval, and else when they do. A part that is blocked
/// therefore gets the process restarted.
final class Watchdog: Sendable {
    /// Returns when a part of the process has answered.
    typealias Echo = @Sendable () async -> Void

    private enum State {
        case idle
        case running(Task<Void, Never>)
        case stopped
    }

    private let rounds: WatchdogRounds
    private let state = Locked(State.idle)

    /// Takes the interval from `WATCHDOG_USEC`; nil when systemd expects nothing of this process.
    ///
    /// - Parameters:
    ///   - environment: The environment of the process.
    ///   - process: The process, which `WATCHDOG_PID` must name if it is set.
    ///   - manager: What reports are sent to.
    ///   - timerQueue: The timer of the interval.
    ///   - echoes: The parts of the process that must answer.
    init?(
        environment: [String: String], process: Int32, manager: ServiceManager,
        timerQueue: TimerQueue, echoes: [Echo]
    ) {
        guard manager.isPresent, let text = environment["WATCHDOG_USEC"],
            let microseconds = Int64(text), microseconds > 0
        else { return nil }
        if let intended = environment["WATCHDOG_PID"], Int32(intended) != process { return nil }
        rounds = WatchdogRounds(
            interval: .microseconds(microseconds), manager: manager, timerQueue: timerQueue,
            echoes: echoes)
    }

    deinit {
        stop()
    }

    /// Begins to report; only the first call has an effect.
    func start() {
        state.withLock { state in
            guard case .idle = state else { return }
            state = .running(Task { [rounds] in await rounds.run() })
        }
    }

    /// Ends the reports for good.
    func stop() {
        let old = state.withLock { state in
            defer { state = .stopped }
            return state
        }
        if case .running(let task) = old { task.cancel() }
    }
}
