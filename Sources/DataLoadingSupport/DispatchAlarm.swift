// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// An alarm on a dispatch timer with a queue of its own.
///
/// A dispatch timer does not count the time that the machine sleeps; `Instant` does. A long wait is
/// therefore divided: the alarm fires after a second, or after a sixtieth of the wait, and a waiter
/// that still waits sets it again. No thread is woken for an instant that no waiter waits for any
/// more.
final class DispatchAlarm: Alarm {
    private static let shortestPart = Duration.seconds(1)
    private let now: @Sendable () -> Instant
    private let timer: Locked<any DispatchSourceTimer>

    init(now: @escaping @Sendable () -> Instant, handler: @escaping @Sendable () -> Void) {
        self.now = now
        let queue = DispatchQueue(label: "DataLoading.alarm", qos: .userInitiated)
        timer = Locked(DispatchSource.makeTimerSource(queue: queue))
        timer.withLock { timer in
            timer.setEventHandler(handler: handler)
            timer.schedule(deadline: .distantFuture)
            timer.activate()
        }
    }

    deinit {
        cancel()
    }

    func set(for instant: Instant) {
        let wait = max(.zero, instant - now())
        let part = min(wait, max(Self.shortestPart, wait / 60))
        timer.withLock { timer in
            timer.schedule(
                deadline: .now() + .nanoseconds(Int(part.wholeNanoseconds)),
                leeway: .nanoseconds(0))
        }
    }

    func cancel() {
        // The handler is released with the timer.
        timer.withLock { $0.cancel() }
    }
}
