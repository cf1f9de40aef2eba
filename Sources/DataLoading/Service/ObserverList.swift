// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A service's consumption observers, held weakly, each with its queue.
///
/// An observer that is slow, or whose queue is blocked, costs a bounded number of notices without
/// bodies, and no time of anything else.
final class ObserverList: Sendable {
    /// The most notices that wait for one observer's queue; one more drops the oldest.
    static let maxWaiting = 4_096
    /// The most notices that one block on an observer's queue delivers.
    private static let mostInARow = 64

    private let entries = Locked<[ObserverEntry]>([])
    private let dropped = Atomic<Int>(0)

    /// How many notices were dropped, of all observers.
    var droppedNotices: Int { dropped.load(ordering: .relaxed) }

    /// How many observers are listed.
    var count: Int { entries.withLock { $0.count } }

    func add(_ observer: any ConsumptionObserver, on queue: DispatchQueue) {
        let entry = ObserverEntry(observer, on: queue)
        // Looked for outside the lock: looking at one keeps it for a moment, and may so be the last
        // to let go.
        let gone = entries.withLock { $0 }.filter { $0.observer == nil }
        replace(with: entry) { old in
            old.identity == entry.identity || gone.contains { $0 === old }
        }
    }

    func remove(_ observer: any ConsumptionObserver) {
        let identity = ObjectIdentifier(observer)
        replace { $0.identity == identity }
    }

    func notify(_ response: DataLoaderResponse) {
        let entries = entries.withLock { $0 }
        guard !entries.isEmpty else { return }
        // An observer wants counts; bodies would be kept for as long as its queue is busy.
        var response = response
        response.body = nil
        response.request.body = nil
        for entry in entries {
            let (schedules, dropsOne) = entry.add(response)
            if dropsOne { dropped.add(1, ordering: .relaxed) }
            if schedules { entry.queue.async { self.deliver(entry) } }
        }
    }

    /// Delivers what waits for an observer, on its queue; forgets an observer that has gone.
    private func deliver(_ entry: ObserverEntry) {
        for _ in 0..<Self.mostInARow {
            guard let response = entry.next() else { return }
            guard let observer = entry.observer else { return replace { $0 === entry } }
            observer.endedRequest(
                with: response, bytesDownloaded: response.metrics.bytesDownloaded,
                bytesUploaded: response.metrics.bytesUploaded)
        }
        // Whatever else has to run on the queue comes in between.
        entry.queue.async { self.deliver(entry) }
    }

    /// Removes entries, and releases them after the lock with the notices that they hold.
    private func replace(
        with new: ObserverEntry? = nil, where isOver: (ObserverEntry) -> Bool
    ) {
        let old = entries.withLock { entries in
            let old = entries
            entries = old.filter { !isOver($0) }
            if let new { entries.append(new) }
            return old
        }
        withExtendedLifetime(old) {}
    }
}

/// One observer, its queue, and what it was not told yet.
private final class ObserverEntry: Sendable {
    private struct State: Sendable {
        var waiting = FIFO<DataLoaderResponse>()
        var count = 0
        /// Whether a block takes what waits, now or later.
        var isScheduled = false
    }

    weak let observer: (any ConsumptionObserver)?
    let identity: ObjectIdentifier
    let queue: DispatchQueue
    private let state = Locked(State())

    init(_ observer: any ConsumptionObserver, on queue: DispatchQueue) {
        self.observer = observer
        identity = ObjectIdentifier(observer)
        self.queue = queue
    }

    /// Keeps a notice; says whether a delivery is to be scheduled and whether the oldest was dropped.
    func add(_ response: DataLoaderResponse) -> (schedules: Bool, dropsOne: Bool) {
        let (schedules, oldest) = state.withLock { state in
            state.waiting.append(response)
            state.count += 1
            let isFull = state.count > ObserverList.maxWaiting
            // Released after the lock, as it may hold objects of the user's.
            let oldest = isFull ? state.waiting.popFirst() : nil
            if isFull { state.count -= 1 }
            defer { state.isScheduled = true }
            return (!state.isScheduled, oldest)
        }
        return (schedules, oldest != nil)
    }

    /// Takes the notice that waits longest; after nil a delivery has to be scheduled again.
    func next() -> DataLoaderResponse? {
        state.withLock { state in
            guard let response = state.waiting.popFirst() else {
                state.isScheduled = false
                return nil
            }
            state.count -= 1
            return response
        }
    }
}
