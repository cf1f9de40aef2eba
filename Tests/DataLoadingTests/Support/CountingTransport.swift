// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting

/// Records the load of each attempt and passes it on.
final class CountingTransport: Transport {
    private let next: any Transport
    let loads = EventRecorder<Int64>()

    init(_ next: any Transport) {
        self.next = next
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        loads.record(attempt.context.load)
        return next.start(attempt, sink: sink)
    }

    func reset() async { await next.reset() }

    func shutDown() async { await next.shutDown() }
}
