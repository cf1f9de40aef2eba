// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// An attempt that runs: what is needed at its end.
struct BegunAttempt: Sendable {
    /// What an attempt has that is a span, or of which a record is taken.
    ///
    /// A class, because most attempts have none of it, and it takes several times the room of the rest.
    final class Details: Sendable {
        let span: SpanPlace?
        /// Nil where nothing takes a record of the attempt, so that no request is kept.
        let request: TransportRequest?
        let date: Date

        init(_ span: SpanPlace?, _ request: TransportRequest?, _ date: Date) {
            self.span = span
            self.request = request
            self.date = date
        }
    }

    let labels: ActiveLabels
    let begun: Instant
    let details: Details?

    /// The record of its end, for listeners.
    func record(
        status: HTTPStatus?, error: DataLoaderError?, _ report: TransportReport, at end: Instant
    ) -> AttemptRecord? {
        guard let details, let request = details.request else { return nil }
        return AttemptRecord(
            context: request.context, reportedLoad: request.reportedLoad,
            method: request.method, url: request.url, template: request.template,
            host: labels.host,
            parent: details.span?.parent, span: details.span?.own, begun: begun, ended: end,
            date: details.date, status: status, error: error, report: report)
    }
}
