// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Sends the outcome and the metrics of every load to the daemon, which adds them up.
final class ReportObserver: ConsumptionObserver {
    private let stream: EventStream

    init(_ stream: EventStream) {
        self.stream = stream
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        stream.send(.ended(response, down: bytesDownloaded, up: bytesUploaded))
    }
}
