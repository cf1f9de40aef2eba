// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// An attempt that runs: what is needed at its end.
struct BegunAttempt: Sendable {
    /// What a record has from the start of the attempt.
    struct Start: Sendable {
        let request: TransportRequest
        let date: Date
    }

    let labels: ActiveLabels
    let span: SpanPlace?
    let begun: Instant
    /// Nil where nothing takes a record of the attempt, so that no request is kept.
    let start: Start?

    /// The record of its end, for who is told.
    func record(
        status: HTTPStatus?, error: DataLoaderError?, _ report: TransportReport, at end: Instant
    ) -> AttemptRecord? {
        guard let start else { return nil }
        let request = start.request
        return AttemptRecord(
            context: request.context, method: request.method, url: request.url,
            template: request.template, host: labels.host,
            parent: span?.parent, span: span?.own, begun: begun, ended: end, date: start.date,
            status: status, error: error, report: report)
    }
}
