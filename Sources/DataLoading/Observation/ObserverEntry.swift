// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// An observer, its queue and the reports that wait for it.
///
/// A report after 10 ms of quiet is delivered at once. Those that follow within 10 ms are delivered
/// together, because waking a thread costs more than a report.
final class ObserverEntry: Sendable {
    /// A block to put on the queue: at once, or at an instant.
    struct Delivery {
        let number: Int
        let instant: DispatchTime?
    }

    private enum Stage {
        case quiet
        /// A block that delivers the waiting reports is due later.
        case delayed
        /// Such a block is due now, or runs.
        case delivering
    }

    private struct State: Sendable {
        var waiting = FIFO<DataLoaderResponse>()
        var stage = Stage.quiet
        /// The number of the last block; blocks before it do nothing.
        var block = 0
        /// When the last block had delivered every report.
        var lastDelivery: DispatchTime?
        /// Whether no delivery is delayed any more.
        var isUrgent = false

        mutating func schedule(at instant: DispatchTime? = nil) -> Delivery {
            stage = instant == nil ? .delivering : .delayed
            block += 1
            return Delivery(number: block, instant: instant)
        }
    }

    /// How long the reports of a burst wait for others.
    private static let burst = DispatchTimeInterval.milliseconds(10)
    /// The number of waiting reports that are not delayed: a fourth of those that may wait.
    private static let maxDelayed = ObserverList.maxWaiting / 4

    weak let observer: (any ConsumptionObserver)?
    let identity: ObjectIdentifier
    let queue: DispatchQueue
    private let now: @Sendable () -> DispatchTime
    private let state = Locked(State())

    init(
        _ observer: any ConsumptionObserver, on queue: DispatchQueue,
        now: @escaping @Sendable () -> DispatchTime = { .now() }
    ) {
        self.now = now
        self.observer = observer
        identity = ObjectIdentifier(observer)
        self.queue = queue
    }

    /// Adds a report; returns the block to schedule, if any, and whether the oldest report was
    /// dropped.
    func add(_ response: DataLoaderResponse) -> (Delivery?, dropsOne: Bool) {
        let (delivery, oldest) = state.withLock { state in
            state.waiting.append(response)
            let isFull = state.waiting.count > ObserverList.maxWaiting
            // Released outside the lock, as it may hold the user's objects.
            let oldest = isFull ? state.waiting.popFirst() : nil
            return (nextDelivery(&state), oldest)
        }
        return (delivery, oldest != nil)
    }

    private func nextDelivery(_ state: inout State) -> Delivery? {
        switch state.stage {
        case .delivering: return nil
        case .delayed: return state.waiting.count < Self.maxDelayed ? nil : state.schedule()
        case .quiet:
            guard !state.isUrgent, let end = state.lastDelivery.map({ $0 + Self.burst }),
                end > now()
            else { return state.schedule() }
            return state.schedule(at: end)
        }
    }

    /// Delays no delivery from now on; returns the block to schedule, if any.
    func flush() -> Delivery? {
        state.withLock { state in
            state.isUrgent = true
            return state.stage == .delayed ? state.schedule() : nil
        }
    }

    /// Whether every report is to be delivered as soon as possible.
    var isUrgent: Bool { state.withLock { $0.isUrgent } }

    /// Whether the block of a number has to deliver: none was scheduled after it.
    func begins(_ number: Int) -> Bool {
        state.withLock { state in
            guard number == state.block else { return false }
            state.stage = .delivering
            return true
        }
    }

    /// Takes the oldest report; after nil, the next report must schedule a block again.
    func next() -> DataLoaderResponse? {
        state.withLock { state in
            guard let response = state.waiting.popFirst() else {
                state.stage = .quiet
                state.lastDelivery = now()
                return nil
            }
            return response
        }
    }
}
