// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
import DataLoading
import Dispatch
public import Foundation

/// A clock that moves only when a test advances it.
///
/// It starts at zero. Due alarms fire inside `advance(by:)`, on the caller's thread, in order of
/// time and then in the order in which they were set. Each fires at its own instant. An alarm that
/// is set during an advance, and is due before its end, fires in it as well. An alarm that is
/// already due when it is set fires in the next advance, which may be by zero. `autoAdvance` moves
/// the clock by itself. The clock is a `Clock`, so that code of yours that takes `any
/// Clock<Duration>` can use it too.
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
    private let queueLists = Locked<[QueueList]>([])

    /// Makes a clock with `date` as its wall time; default 1 January 2026, 00:00 UTC.
    public init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        state = Locked(ManualClockState(dateAtStart: date))
    }

    /// The time since the clock was made: the sum of all advances.
    public var elapsed: Duration {
        .nanoseconds(instant.nanoseconds)
    }

    /// The wall time, which moves with the clock and jumps with `setDate`.
    public var date: Date {
        state.withLock { $0.date }
    }

    /// The number of pending alarms and sleeps.
    public var pendingAlarms: Int {
        state.withLock { $0.pending.count }
    }

    /// Sets the wall time, as an administrator or a time server would; `now` does not change.
    public func setDate(_ date: Date) {
        state.withLock { $0.setDate(date) }
    }

    /// Moves the clock forward and fires everything that is due on the way.
    ///
    /// A negative duration counts as zero: the clock never moves back.
    public func advance(by duration: Duration) {
        let target = state.withLock { $0.now + max(.zero, duration) }
        while let handler = state.withLock({ $0.takeDue(until: target) }) {
            handler()
        }
    }

    /// Moves the clock to the earliest pending alarm; false without one.
    @discardableResult
    public func advanceToNextAlarm() -> Bool {
        advanceToNextAlarm(unlessUsedSince: nil)
    }

    /// Moves to the earliest alarm, if the clock has been used so often and no work is under way.
    @discardableResult
    func advanceToNextAlarm(unlessUsedSince uses: Int?) -> Bool {
        let pause = state.withLock { state -> Duration? in
            guard uses == nil || uses == state.uses && state.work == 0 else { return nil }
            state.uses += 1
            return state.pending.last.map { $0.instant - state.now }
        }
        guard let pause else { return false }
        advance(by: pause)
        return true
    }

    /// Waits until at least `count` alarms and sleeps are pending, or the task is cancelled.
    ///
    /// They still are when the scripted transports of this clock's services have delivered what they
    /// had begun: a response whose body has not ended yet may set an alarm that its end cancels.
    ///
    /// - Parameters:
    ///   - count: The number of alarms. A service has one alarm for any number of waiting loads.
    ///   - duration: Counts only alarms that are due within this time from now; nil counts all.
    public func waitForAlarms(_ count: Int, within duration: Duration? = nil) async {
        let latest = duration.map { instant + $0 } ?? .distantFuture
        repeat {
            await waitForAlarms(count, until: latest)
            for queue in transportQueues {
                await withCheckedContinuation { ran in queue.async { ran.resume() } }
            }
        } while !Task.isCancelled && state.withLock { $0.count(until: latest) } < count
    }

    private func waitForAlarms(
        _ count: Int, until latest: DataLoadingSupport.Instant
    ) async {
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
}

extension ManualClock {
    /// The clock as a service's source of time.
    package var timekeeper: any Timekeeper {
        ManualTimekeeper(clock: self)
    }

    /// The current instant.
    package var instant: DataLoadingSupport.Instant {
        state.withLock { state in
            state.uses += 1
            return state.now
        }
    }

    /// How often the clock was read, set or cancelled.
    var uses: Int { state.withLock { $0.uses } }

    /// Whether a load is being started, or a sleep has ended whose task has not run on yet.
    var isWorking: Bool { state.withLock { $0.work > 0 } }

    /// Notes that work has begun (1) or ended (-1) that the clock must wait for.
    func noteWork(_ change: Int) {
        state.withLock { state in
            state.uses += 1
            state.work += change
        }
    }

    /// The queues of the services that were made with the clock, and of their scripted transports.
    var workQueues: [DispatchQueue] {
        presentQueues.flatMap { queues, transport in queues + [transport].compactMap { $0 } }
    }

    /// The queues of the scripted transports, which no callback of a service can block.
    private var transportQueues: [DispatchQueue] { presentQueues.compactMap(\.transport) }

    private var presentQueues: [(service: [DispatchQueue], transport: DispatchQueue?)] {
        let lists = queueLists.withLock { $0 }.map { (list: $0, queues: $0.queues()) }
        let gone = lists.filter { $0.queues == nil }.map(\.list)
        if !gone.isEmpty {
            queueLists.withLock { present in
                present.removeAll { list in gone.contains { $0 === list } }
            }
        }
        return lists.compactMap { list, queues in queues.map { ($0, list.transport) } }
    }

    /// Adds the queues of a service, which are nil when it is over, and that of its transport.
    func add(queues: @escaping @Sendable () -> [DispatchQueue]?, transport: DispatchQueue?) {
        queueLists.withLock { $0.append(QueueList(queues: queues, transport: transport)) }
    }

    func makeIdentifier() -> UInt64 {
        state.withLock { $0.makeIdentifier() }
    }

    func set(
        _ identifier: UInt64, for instant: DataLoadingSupport.Instant,
        handler: @escaping @Sendable () -> Void
    ) {
        let ready = state.withLock { state in
            state.set(identifier, for: instant, handler: handler)
            return state.takeReadyWaiters()
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    func remove(_ identifier: UInt64) {
        // The handler is released after the lock: a `deinit` of what it holds may call this clock.
        _ = state.withLock { $0.remove(identifier) }
    }
}

/// Where queues come from.
private final class QueueList: Sendable {
    let queues: @Sendable () -> [DispatchQueue]?
    let transport: DispatchQueue?

    init(queues: @escaping @Sendable () -> [DispatchQueue]?, transport: DispatchQueue?) {
        self.queues = queues
        self.transport = transport
    }
}
