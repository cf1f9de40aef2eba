// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// The consumption observers of a service, held weakly, each with its queue.
///
/// A slow observer, or a blocked queue, costs a bounded number of reports without bodies and delays
/// nothing else.
final class ObserverList: Sendable {
    /// The maximum number of reports that wait for one observer's queue; one more drops the oldest.
    static let maxWaiting = 4_096
    /// The maximum number of reports that one block on an observer's queue delivers.
    private static let maxInARow = 64

    private struct State: Sendable {
        var entries: [ObserverEntry] = []
        /// Called where a load ends, and kept.
        var inline: [any ConsumptionObserver] = []
    }

    private let state = Locked(State())
    private let dropped = Locked(0)

    /// The number of reports that were dropped, over all observers.
    var droppedNotices: Int { dropped.withLock { $0 } }

    /// The number of observers with a queue.
    var count: Int { state.withLock { $0.entries.count } }

    /// Adds an observer that is called on the thread on which a load ends, and must not block.
    ///
    /// It misses no report, however many loads end.
    func addInline(_ observer: any ConsumptionObserver) {
        state.withLock { $0.inline.append(observer) }
    }

    func add(_ observer: any ConsumptionObserver, on queue: DispatchQueue) {
        let entry = ObserverEntry(observer, on: queue)
        // Read outside the lock: reading a weak reference retains the observer, and may release it
        // last.
        let gone = state.withLock { $0.entries }.filter { $0.observer == nil }
        replace(with: entry) { old in
            old.identity == entry.identity || gone.contains { $0 === old }
        }
    }

    func remove(_ observer: any ConsumptionObserver) {
        let identity = ObjectIdentifier(observer)
        replace { $0.identity == identity }
    }

    /// Makes a report for the observers, if there are any.
    func notify(_ report: () -> DataLoaderResponse?) {
        let observers = state.withLock { $0 }
        guard !observers.entries.isEmpty || !observers.inline.isEmpty, var response = report()
        else { return }
        // Observers need counts; bodies would stay in memory for as long as the queue is busy.
        response.body = nil
        if response.request.body != nil { response.request.body = nil }
        if response.error?.body != nil { response.error?.dropBody() }
        for observer in observers.inline { observer.tell(response) }
        for entry in observers.entries {
            let (delivery, dropsOne) = entry.add(response)
            if dropsOne { dropped.add(1) }
            if let delivery { schedule(delivery, of: entry) }
        }
    }

    /// Delivers waiting reports at once, and later ones without a delay: the process may exit soon.
    func flush() {
        for entry in state.withLock({ $0.entries }) {
            if let delivery = entry.flush() { schedule(delivery, of: entry) }
        }
    }

    private func schedule(_ delivery: ObserverEntry.Delivery, of entry: ObserverEntry) {
        let work: @Sendable @convention(block) () -> Void = {
            self.deliver(entry, delivery.number)
        }
        guard let instant = delivery.instant else { return entry.queue.async(execute: work) }
        entry.queue.asyncAfter(deadline: instant, execute: work)
    }

    /// Delivers the waiting reports on the observer's queue, and removes a released observer.
    private func deliver(_ entry: ObserverEntry, _ number: Int) {
        guard entry.begins(number) else { return }
        var count = 0
        // At the end of a service none may be left for a later block: who waits for the queue then
        // waits for all of them.
        while count < Self.maxInARow || entry.isUrgent {
            count += 1
            guard let response = entry.next() else { return }
            guard let observer = entry.observer else { return replace { $0 === entry } }
            observer.tell(response)
        }
        // Other work on the queue runs in between.
        entry.queue.async { self.deliver(entry, number) }
    }

    /// Removes entries, and releases them and their reports outside the lock.
    private func replace(
        with new: ObserverEntry? = nil, where isOver: (ObserverEntry) -> Bool
    ) {
        let old = state.withLock { state in
            let old = state.entries
            state.entries = old.filter { !isOver($0) }
            if let new { state.entries.append(new) }
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension ConsumptionObserver {
    fileprivate func tell(_ response: DataLoaderResponse) {
        endedRequest(
            with: response, bytesDownloaded: response.metrics.bytesDownloaded,
            bytesUploaded: response.metrics.bytesUploaded)
    }
}
