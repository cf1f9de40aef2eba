// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

extension ManualClock {
    /// Runs a closure, and advances the clock to the next alarm whenever nothing else is to be done.
    ///
    /// ```swift
    /// let response = try await clock.autoAdvance {
    ///     try await loader.response(for: request)  // 503, a pause of its retry policy, 200
    /// }
    /// ```
    /// The clock jumps when an alarm or a sleep is pending and ten rounds in a row have found
    /// nothing to do. In a round, everything runs that is already on the queues of the services that
    /// were made with this clock, of their scripted transports and of their loads' delegates, and
    /// then a task of each priority runs. The round has found nothing if no code read the clock, set
    /// or cancelled an alarm, or began or ended a sleep meanwhile, every task whose sleep has ended
    /// runs again, and no call that starts a load is still under way.
    ///
    /// A jump goes to the earliest alarm and fires what is due then. Without a pending alarm the
    /// clock waits. It no longer moves when the function has returned. The rounds do not see code
    /// that computes for long without reading the clock, sockets or other processes: advance the
    /// clock by hand for these.
    public func autoAdvance<Result>(
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let jumps = Task { await jumpWhenIdle() }
        do {
            let result = try await body()
            jumps.cancel()
            await jumps.value
            return result
        } catch {
            jumps.cancel()
            await jumps.value
            throw error
        }
    }

    /// The number of rounds without work after which the clock jumps.
    private static var idleRounds: Int { 10 }

    private func jumpWhenIdle() async {
        while !Task.isCancelled {
            await waitForAlarms(1)
            var idle = 0
            var seen = uses
            while idle < Self.idleRounds, !Task.isCancelled {
                seen = uses
                await finishRound()
                idle = uses == seen && !isWorking ? idle + 1 : 0
            }
            // Another one may have advanced meanwhile, for whose news there were no rounds.
            if !Task.isCancelled { advanceToNextAlarm(unlessUsedSince: seen) }
        }
    }

    /// Returns when the work that was on the known queues, and a task of each priority, ran.
    ///
    /// Tasks of one priority begin in order, so the tasks that were ready before have begun then.
    private func finishRound() async {
        for queue in workQueues {
            await withCheckedContinuation { ran in queue.async { ran.resume() } }
        }
        for priority in [TaskPriority.high, .medium, .low, .background] {
            await Task.detached(priority: priority) { await Task.yield() }.value
        }
    }
}
