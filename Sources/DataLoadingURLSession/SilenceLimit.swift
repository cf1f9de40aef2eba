// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// The time limit for silence of the session; its owner's lock guards it.
///
/// The session does not report when it has connected, so the first activity may take the
/// connect limit as well.
struct SilenceLimit {
    private let idleTimeout: Duration
    private var timeout: Duration
    private var lastActivity: Instant

    init(of request: TransportRequest, since begin: Instant) {
        idleTimeout = request.idleTimeout
        timeout = request.connectTimeout + request.idleTimeout
        lastActivity = begin
    }

    /// When the limit is reached.
    var end: Instant { lastActivity + timeout }

    /// Notes that the session has delivered something.
    mutating func noteActivity(at now: Instant) {
        lastActivity = now
        timeout = idleTimeout
    }

    /// Starts the limit anew after a time in which nothing could be delivered.
    mutating func restart(at now: Instant) {
        lastActivity = now
    }
}

extension URLSessionAttempt: TimerTarget {
    func timerFired(_ tag: Int) {
        let now = timerQueue.now
        let isSilent = state.withLock { state in
            state.deadline = nil
            // While bytes wait here, the session is not silent.
            if state.inbox.isBusy { state.silence.restart(at: now) }
            // An end that waits for the sink must not be replaced any more.
            return !state.isDecided && now >= state.silence.end
        }
        isSilent ? stop(.idleTimeout) : scheduleDeadline()
    }

    /// Schedules a check at the time when the limit can be reached.
    func scheduleDeadline() {
        // Inside the lock; otherwise an entry might fall due before it is stored, and another
        // be lost.
        state.withLock { state in
            guard !state.isDecided else { return }
            state.deadline = timerQueue.schedule(at: state.silence.end, for: self, tag: 0)
        }
    }
}
