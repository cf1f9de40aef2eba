// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A service's consumption observers, held weakly, each with its queue.
final class ObserverList: Sendable {
    private final class Entry: Sendable {
        weak let observer: (any ConsumptionObserver)?
        let notices: Deliveries<Notice>

        init(_ observer: any ConsumptionObserver, on queue: DispatchQueue) {
            self.observer = observer
            notices = Deliveries(on: queue) { $0.tell() }
        }
    }

    /// What one observer is to hear.
    private struct Notice: Sendable {
        let entry: Entry
        let response: DataLoaderResponse

        func tell() {
            let metrics = response.metrics
            entry.observer?.endedRequest(
                with: response, bytesDownloaded: metrics.bytesDownloaded,
                bytesUploaded: metrics.bytesUploaded)
        }
    }

    private let entries = Locked<[Entry]>([])

    func add(_ observer: any ConsumptionObserver, on queue: DispatchQueue) {
        entries.withLock { entries in
            // An observer that has gone leaves its place here, so that the list cannot grow.
            entries.removeAll { $0.observer == nil || $0.observer === observer }
            entries.append(Entry(observer, on: queue))
        }
    }

    func remove(_ observer: any ConsumptionObserver) {
        entries.withLock { $0.removeAll { $0.observer === observer } }
    }

    func notify(_ response: DataLoaderResponse) {
        for entry in entries.withLock({ $0 }) {
            entry.notices.add(Notice(entry: entry, response: response))
        }
    }
}
