// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Counts each load that ended; it takes a lock for a moment, and does not block.
final class LoadRecorder: ConsumptionObserver {
    private let registry: MetricRegistry

    init(_ registry: MetricRegistry) {
        self.registry = registry
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let figures = response.figures
        let request = response.request
        var record = LoadRecord(
            host: registry.hosts.label(of: (try? request.target)?.origin),
            source: registry.sources.label(request.sourceIdentifier),
            outcome: OutcomeWord(response.error),
            error: response.error.flatMap { ErrorLabel($0) })
        record.duration = figures.totalTime.wholeNanoseconds
        record.slotWait = figures.admissionTime.wholeNanoseconds
        record.authorisationWait = figures.authorisationTime.wholeNanoseconds
        record.backOffWait = figures.backOffTime.wholeNanoseconds
        record.retries = Int64(figures.retries)
        record.received = bytesDownloaded
        record.sent = bytesUploaded
        registry.loadEnded(record)
    }
}
