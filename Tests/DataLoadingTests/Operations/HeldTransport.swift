// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Hands the sinks of its attempts to the test, which calls them.
final class HeldTransport: ExecutingTransport {
    final class Attempt: TransportTask {
        let isCancelled = Locked(false)

        func cancel() { isCancelled.withLock { $0 = true } }
        func pause() {}
        func resume() {}
    }

    private let held = Locked<(any TransportSink)?>(nil)
    let calls = Locked<[String]>([])

    /// Takes the sink of the last attempt; one that ignores everything if there was none.
    func take() -> any TransportSink { held.withLock { $0.take() } ?? IgnoringSink() }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        held.withLock { $0 = sink }
        return Attempt()
    }

    func reset() async { calls.withLock { $0.append("reset") } }

    func shutDown() async { calls.withLock { $0.append("shutDown") } }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    var taskExecutor: any TaskExecutor { globalConcurrentExecutor }
}

/// Ignores the events of an attempt.
final class IgnoringSink: TransportSink {
    func didReceive(_ head: DataLoading.ResponseHead) {}
    func didReceive(_ bytes: Data) {}
    func didEnd(_ report: TransportReport) {}
    func didFail(_ failure: TransportFailure) {}
}
