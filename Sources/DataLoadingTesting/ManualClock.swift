// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoading
public import Foundation

/// A clock that moves only when a test says so.
///
/// It starts at zero. What is due goes off inside `advance(by:)`, on the caller's thread and in
/// order of time, then in the order in which it was set; each sees the instant that it was set for.
/// An alarm that is set meanwhile and falls due before the advance ends goes off in it as well.
/// Something that is already due when it is set waits for the next advance, which may be by zero.
///
/// ```swift
/// let clock = ManualClock()
/// async let nap: Void = clock.sleep(for: .seconds(60))
/// await clock.waitForAlarms(1)
/// clock.advance(by: .seconds(60))
/// try await nap
/// ```
public final class ManualClock: Sendable {
    private let state: Locked<ManualClockState>

    /// Makes a clock that shows `date` on the wall; by default 1 January 2026, 00:00 UTC.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        state = Locked(ManualClockState(dateAtStart: date))
    }

    /// The time since the clock was made: the sum of all advances.
    public var now: Duration {
        .nanoseconds(instant.nanoseconds)
    }

    /// The wall time, which moves with the clock and jumps with `setDate`.
    public var date: Date {
        state.withLock { $0.date }
    }

    /// How many alarms and sleeps wait for their instant.
    public var pendingAlarms: Int {
        state.withLock { $0.pending.count }
    }

    /// Sets the wall time, as an administrator or a time server would; `now` does not change.
    public func setDate(_ date: Date) {
        state.withLock { $0.setDate(date) }
    }

    /// Moves the clock forward and sets off everything that falls due on the way.
    ///
    /// A negative duration counts as zero: the clock never goes back.
    public func advance(by duration: Duration) {
        let target = state.withLock { $0.now + max(.zero, duration) }
        while let handler = state.withLock({ $0.takeDue(until: target) }) {
            handler()
        }
    }

    /// Moves the clock to the earliest instant that something waits for; false when nothing waits.
    @discardableResult
    public func advanceToNextAlarm() -> Bool {
        guard let next = state.withLock({ $0.pending.last?.instant }) else { return false }
        advance(by: next - instant)
        return true
    }

    /// Waits until at least `count` alarms and sleeps are pending, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - count: How many; a service has one alarm, whatever waits.
    ///   - duration: Counts only what goes off within this time from now; nil counts all.
    public func waitForAlarms(_ count: Int, within duration: Duration? = nil) async {
        let latest = duration.map { instant + $0 } ?? .distantFuture
        let waiter = state.withLock { $0.makeIdentifier() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.count(until: latest) >= count || Task.isCancelled { return true }
                    state.waiters[waiter] = ManualClockState.Waiter(
                        count: count, latest: latest, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.continuation.resume()
        }
    }

    /// Waits until the clock has moved by `duration`; throws `CancellationError` when cancelled.
    public func sleep(for duration: Duration) async throws {
        let deadline = instant + duration
        let sleep = ManualSleep(clock: self)
        if duration > .zero {
            await withTaskCancellationHandler {
                await withCheckedContinuation { sleep.begin($0, until: deadline) }
            } onCancel: {
                sleep.end()
            }
        }
        try Task.checkCancellation()
    }
}

extension ManualClock {
    /// The clock as a service takes it.
    package var timekeeper: any Timekeeper {
        ManualTimekeeper(clock: self)
    }

    /// The instant at which the clock stands.
    package var instant: Instant {
        state.withLock { $0.now }
    }

    func makeIdentifier() -> UInt64 {
        state.withLock { $0.makeIdentifier() }
    }

    func set(_ identifier: UInt64, for instant: Instant, handler: @escaping @Sendable () -> Void) {
        let ready = state.withLock { state in
            state.set(identifier, for: instant, handler: handler)
            return state.takeReadyWaiters()
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    func remove(_ identifier: UInt64) {
        // The handler goes after the lock: what it holds may have a `deinit` that comes back here.
        _ = state.withLock { $0.remove(identifier) }
    }
}
