// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation

/// A transport that does nothing by itself: attempts end when the test tells their sink, even when
/// they were cancelled long before.
final class ManualTransport: Transport {
    /// One attempt.
    final class Attempt: TransportTask {
        /// What was to be sent.
        let request: TransportRequest
        /// Whether `end` was called.
        let isEnded = Locked(false)
        private let held: Locked<(any TransportSink)?>
        let isPaused = Locked(false)
        /// Called before a pause takes hold.
        let beforePause = Locked<(@Sendable () -> Void)?>(nil)

        init(_ request: TransportRequest, sink: any TransportSink) {
            self.request = request
            held = Locked(sink)
        }

        /// Whom the test tells what happens.
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
            sink.didEnd(TransportEnd())
        }

        /// Keeps nothing of the load any more.
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

    /// Keeps nothing of any load any more; else loads and transport would keep each other.
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

/// Hears the rest of an attempt that was let go.
private final class Nobody: TransportSink {
    func didReceiveInformational(_ head: ResponseHead) {}
    func didReceive(_ head: ResponseHead) {}
    func didReceive(_ bytes: Data) {}
    func didEnd(_ end: TransportEnd) {}
    func didFail(_ failure: TransportFailure) {}
}
