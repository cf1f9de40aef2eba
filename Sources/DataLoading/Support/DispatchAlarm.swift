// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// An alarm on a dispatch timer with a queue of its own.
final class DispatchAlarm: Alarm {
    private let timekeeper: SystemTimekeeper
    private let source: Locked<any DispatchSourceTimer>

    init(timekeeper: SystemTimekeeper, handler: @escaping @Sendable () -> Void) {
        self.timekeeper = timekeeper
        let queue = DispatchQueue(label: "DataLoading.alarm", qos: .userInitiated)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler(handler: handler)
        timer.schedule(deadline: .distantFuture)
        timer.activate()
        source = Locked(timer)
    }

    deinit {
        source.withLock { $0.cancel() }
    }

    func set(for instant: Instant) {
        let delay = max(0, (instant - timekeeper.now).wholeNanoseconds)
        // A year at most per arming: far instants are armed again when the alarm goes off.
        let capped = Int(min(delay, 31_536_000_000_000_000))
        source.withLock {
            $0.schedule(deadline: .now() + .nanoseconds(capped), leeway: .nanoseconds(0))
        }
    }

    func cancel() {
        source.withLock { $0.cancel() }
    }
}
