// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Keeps a lock while something is done, and says when it cannot be kept.
final class LockHold: Sendable {
    private struct State: Sendable {
        var isOver = false
        var waker: Waker?
    }

    /// How often the lock is renewed, which lasts six times as long.
    private static let interval = Duration.seconds(10)
    /// How long the lock counts as kept without an answer: half of the time for which it lasts.
    private static let trust = Duration.seconds(30)

    private let timerQueue: TimerQueue
    private let state = Locked(State())

    init(_ timerQueue: TimerQueue) {
        self.timerQueue = timerQueue
    }

    /// What was done under the lock has ended.
    func end() {
        let waker = state.withLock { state in
            state.isOver = true
            return state.waker.take()
        }
        waker?.wake()
    }

    /// Renews the lock until `end` is called.
    ///
    /// - Parameters:
    ///   - taken: When the lock was asked for.
    ///   - renew: Returns whether the lock is still there.
    /// - Returns: False when it went to another owner, or when for 30 s nobody knows whether it did.
    func keep(since taken: Instant, renew: @Sendable () async throws -> Bool) async -> Bool {
        var confirmed = taken
        while !(await pause()) {
            let asked = timerQueue.now
            if let isKept = try? await renew() {
                guard isKept else { return false }
                confirmed = asked
            }
            if timerQueue.now - confirmed > Self.trust { return false }
        }
        return true
    }

    /// Waits for an interval or the end; returns whether it was the end.
    private func pause() async -> Bool {
        let waker = Waker()
        let isOver = state.withLock { state in
            state.waker = waker
            return state.isOver
        }
        guard !isOver else { return true }
        let entry = timerQueue.schedule(at: timerQueue.now + Self.interval, for: waker, tag: 0)
        await waker.wait()
        timerQueue.cancel(entry)
        return state.withLock { $0.isOver }
    }
}
