// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting

/// A transport that does nothing by itself: attempts end when the test tells their sink, even when
/// they were cancelled long before.
final class ManualTransport: Transport {
    /// One attempt.
    final class Attempt: TransportTask {
        let sink: any TransportSink
        let isPaused = Locked(false)
        /// Called before a pause takes hold.
        let beforePause = Locked<(@Sendable () -> Void)?>(nil)

        init(sink: any TransportSink) {
            self.sink = sink
        }

        func cancel() {}

        func pause() {
            beforePause.withLock { $0 }?()
            isPaused.withLock { $0 = true }
        }

        func resume() { isPaused.withLock { $0 = false } }
    }

    let attempts = EventRecorder<Attempt>()

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let started = Attempt(sink: sink)
        attempts.record(started)
        return started
    }

    func reset() async {}

    func shutDown() async {}
}
