// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A service's consumption observers, held weakly, each with its queue.
final class ObserverList: Sendable {
    private final class Entry: Sendable {
        weak let observer: (any ConsumptionObserver)?
        let identity: ObjectIdentifier
        let notices: Deliveries<Notice>

        init(_ observer: any ConsumptionObserver, on queue: DispatchQueue) {
            self.observer = observer
            identity = ObjectIdentifier(observer)
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
        let entry = Entry(observer, on: queue)
        // An observer that has gone leaves its place here, so that the list cannot grow. Looked for
        // outside the lock: looking at one keeps it for a moment, and may so be the last to let go.
        let gone = entries.withLock { $0 }.filter { $0.observer == nil }
        entries.withLock { entries in
            entries.removeAll { old in
                old.identity == entry.identity || gone.contains { $0 === old }
            }
            entries.append(entry)
        }
    }

    func remove(_ observer: any ConsumptionObserver) {
        let identity = ObjectIdentifier(observer)
        entries.withLock { $0.removeAll { $0.identity == identity } }
    }

    func notify(_ response: DataLoaderResponse) {
        for entry in entries.withLock({ $0 }) {
            entry.notices.add(Notice(entry: entry, response: response))
        }
    }
}
