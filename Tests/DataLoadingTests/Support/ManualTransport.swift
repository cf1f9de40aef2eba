// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation

/// A transport that does nothing by itself: attempts end when the test calls their sink, even if
/// they were cancelled long before.
final class ManualTransport: Transport {
    /// One attempt.
    final class Attempt: TransportTask {
        /// The request of the attempt.
        let request: TransportRequest
        /// Whether `end` was called.
        let isEnded = Locked(false)
        private let held: Locked<(any TransportSink)?>
        let isPaused = Locked(false)
        /// Called before a pause takes effect.
        let beforePause = Locked<(@Sendable () -> Void)?>(nil)

        init(_ request: TransportRequest, sink: any TransportSink) {
            self.request = request
            held = Locked(sink)
        }

        /// The sink that the test calls.
        var sink: any TransportSink { held.withLock { $0 } ?? Nobody() }

        /// Ends with an empty response, once.
        func end(_ status: Int, location: String) {
            let isFirst = isEnded.withLock { isEnded in
                defer { isEnded = true }
                return !isEnded
            }
            guard isFirst else { return }
            let status = HTTPStatus(rawValue: status)
            sink.didReceive(
                DataLoading.ResponseHead(status: status, headers: ["Location": location]))
            sink.didEnd(TransportReport())
        }

        /// Releases the load.
        func letGo() {
            held.withLock { $0 = nil }
            beforePause.withLock { $0 = nil }
        }

        func cancel() {}

        func pause() {
            beforePause.withLock { $0 }?()
            isPaused.withLock { $0 = true }
        }

        func resume() { isPaused.withLock { $0 = false } }
    }

    let attempts = EventRecorder<Attempt>()

    /// Releases all loads, which would otherwise form a cycle with the transport.
    func letGo() {
        for attempt in attempts.elements { attempt.letGo() }
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let started = Attempt(attempt, sink: sink)
        attempts.record(started)
        return started
    }

    func reset() async {}

    func shutDown() async {}
}

/// Receives the remaining events of a released attempt.
private final class Nobody: TransportSink {
    func didReceive(_ head: ResponseHead) {}
    func didReceive(_ bytes: Data) {}
    func didEnd(_ report: TransportReport) {}
    func didFail(_ failure: TransportFailure) {}
}
