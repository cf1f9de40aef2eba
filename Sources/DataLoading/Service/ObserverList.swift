// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A service's consumption observers, held weakly, each with its queue.
final class ObserverList: Sendable {
    private struct Entry: Sendable {
        weak var observer: (any ConsumptionObserver)?
        let queue: DispatchQueue
    }

    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    func add(_ observer: any ConsumptionObserver, on queue: DispatchQueue) {
        entries.withLock { entries in
            // An observer that has gone leaves its place here, so that the list cannot grow.
            entries = entries.filter { $0.value.observer != nil }
            entries[ObjectIdentifier(observer)] = Entry(observer: observer, queue: queue)
        }
    }

    func remove(_ observer: any ConsumptionObserver) {
        entries.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(observer)) }
    }

    func notify(_ response: DataLoaderResponse) {
        let listening = entries.withLock { $0.isEmpty ? [] : Array($0.values) }
        for entry in listening {
            entry.queue.async { [weak observer = entry.observer] in
                observer?.endedRequest(
                    with: response, bytesDownloaded: response.metrics.bytesDownloaded,
                    bytesUploaded: response.metrics.bytesUploaded)
            }
        }
    }
}
