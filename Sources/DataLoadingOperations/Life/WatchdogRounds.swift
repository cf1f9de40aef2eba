// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The rounds of a watchdog: echoes, a report if they came back in time, and a pause.
struct WatchdogRounds: Sendable {
    /// What has become of the echoes that were asked for last.
    private enum Echoes {
        case back
        case expected
        /// They did not come in time.
        case late
    }

    private let interval: Duration
    private let manager: ServiceManager
    private let timerQueue: TimerQueue
    private let echoes: [Watchdog.Echo]
    private let asked = Locked(Echoes.back)

    init(
        interval: Duration, manager: ServiceManager, timerQueue: TimerQueue,
        echoes: [Watchdog.Echo]
    ) {
        self.interval = interval
        self.manager = manager
        self.timerQueue = timerQueue
        self.echoes = echoes
    }

    /// Runs rounds until its task is cancelled.
    func run() async {
        var due = timerQueue.now
        while !Task.isCancelled {
            if await answer(), !Task.isCancelled { manager.pingWatchdog() }
            // From the time when the round was due, or echoes would make the interval longer. Not
            // several rounds at once after the machine has slept.
            due = max(due + interval / 2, timerQueue.now)
            try? await timerQueue.sleep(for: due - timerQueue.now)
        }
    }

    /// Whether all parts answer in time.
    ///
    /// What has not answered in an earlier round is not asked again: its tasks would pile up.
    private func answer() async -> Bool {
        let isFree = asked.withLock { asked in
            guard case .back = asked else { return false }
            asked = .expected
            return true
        }
        guard isFree else { return false }
        let isInTime = await timerQueue.wait(atMost: interval / 4) { [echoes, asked, manager] in
            await withDiscardingTaskGroup { group in
                for echo in echoes { group.addTask { await echo() } }
            }
            let isLate = asked.withLock { asked in
                defer { asked = .back }
                guard case .late = asked else { return false }
                return true
            }
            // The next round would be too late for systemd, which counts from the last report.
            if isLate { manager.pingWatchdog() }
        }
        guard !isInTime else { return true }
        return asked.withLock { asked in
            // They came just now, and were not reported.
            guard case .expected = asked else { return true }
            asked = .late
            return false
        }
    }
}
