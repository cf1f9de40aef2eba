// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Makes the span of each load that ended; it does not block.
final class LoadSpanRecorder: ConsumptionObserver {
    private let tracer: Tracer
    private let spans: SpanExporter
    private let timekeeper: any Timekeeper

    init(_ tracer: Tracer, _ spans: SpanExporter, _ timekeeper: any Timekeeper) {
        self.tracer = tracer
        self.spans = spans
        self.timekeeper = timekeeper
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        guard let place = tracer.place(ofEnded: response.metrics.load, response.request),
            place.own.isSampled
        else { return }
        spans.add(.load(LoadSpan(response, at: place, begun: wallTime(of: response))))
    }

    /// When a load began: a delegate that was told of its end first may have taken its time.
    private func wallTime(of response: DataLoaderResponse) -> Int64 {
        let total = response.metrics.totalTime
        let elapsed = response.begun.map { max(total, timekeeper.now - $0) } ?? total
        return timekeeper.date.addingTimeInterval(-elapsed.inSeconds).nanosecondsSinceEpoch
    }
}
