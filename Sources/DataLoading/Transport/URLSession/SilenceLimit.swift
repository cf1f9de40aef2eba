// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    /// How long a session may bring nothing for an attempt; its owner's lock guards it.
    ///
    /// The session tells nobody when it has connected, so that the first sign of life may take the time
    /// for the connection as well.
    struct SilenceLimit {
        private let idleTimeout: Duration
        private var patience: Duration
        private var lastSign: Instant

        init(of request: TransportRequest, since begin: Instant) {
            idleTimeout = request.idleTimeout
            patience = request.connectTimeout + request.idleTimeout
            lastSign = begin
        }

        /// When the limit is reached.
        var end: Instant { lastSign + patience }

        /// The session has brought something.
        mutating func isBroken(at now: Instant) {
            lastSign = now
            patience = idleTimeout
        }

        /// Nobody could be heard until now.
        mutating func startAnew(at now: Instant) {
            lastSign = now
        }
    }

    extension URLSessionAttempt: Punctual {
        func isDue(_ tag: Int) {
            let now = agenda.now
            let isSilent = state.withLock { state in
                state.deadline = nil
                // Nobody is silent whose bytes are waiting here.
                if state.inbox.isBusy { state.silence.startAnew(at: now) }
                // An end that waits for the sink may not be replaced any more.
                return !state.isDecided && now >= state.silence.end
            }
            isSilent ? stop(.idleTimeout) : scheduleDeadline()
        }

        /// Has the silence looked at when it may have lasted long enough.
        func scheduleDeadline() {
            // Inside the lock, or an entry might fall due before it is noted, and another be lost.
            state.withLock { state in
                guard !state.isDecided else { return }
                state.deadline = agenda.schedule(at: state.silence.end, for: self, tag: 0)
            }
        }
    }
#endif
