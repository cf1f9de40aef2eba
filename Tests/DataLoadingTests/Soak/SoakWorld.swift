// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation

/// A transport that keeps only running attempts and answers when it is told to.
final class SoakTransport: Transport {
    final class Attempt: TransportTask {
        let request: TransportRequest
        private let sink: Locked<(any TransportSink)?>

        init(_ request: TransportRequest, _ sink: any TransportSink) {
            self.request = request
            self.sink = Locked(sink)
        }

        /// Returns the sink once.
        func take() -> (any TransportSink)? { sink.withLock { $0.take() } }

        func cancel() {}
        func pause() {}
        func resume() {}
    }

    private let running = Locked<[Attempt]>([])

    /// Returns the attempts that started since the last call.
    func takeStarted() -> [Attempt] {
        running.withLock { running in
            defer { running = [] }
            return running
        }
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let task = Attempt(attempt, sink)
        running.withLock { $0.append(task) }
        return task
    }

    func reset() async {}

    func shutDown() async {}
}

/// A delegate that counts.
final class SoakDelegate: DataLoaderChunkDelegate {
    struct Counts: Sendable {
        var successes = 0
        var errors = 0
        var cancellations = 0
        var late = 0

        var all: Int { successes + errors + cancellations }
    }

    private let state = Locked(Counts())

    var counts: Counts { state.withLock { $0 } }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        note(response) { $0.successes += 1 }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        note(response) { $0.errors += 1 }
    }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
        state.withLock { $0.cancellations += 1 }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
    ) {}

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse
    ) {}

    func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }

    private func note(_ response: DataLoaderResponse, _ change: (inout Counts) -> Void) {
        state.withLock { counts in
            change(&counts)
            // No outcome is later than the load's deadline.
            if response.requestTime > .seconds(60) { counts.late += 1 }
        }
    }
}
