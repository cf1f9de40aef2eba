// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// An attempt that runs: what its record needs from its start.
struct BegunAttempt: Sendable {
    let request: TransportRequest
    let labels: ActiveLabels
    let span: SpanPlace?
    let begun: Instant
    let date: Date

    /// The record of its end.
    func record(
        status: HTTPStatus?, error: DataLoaderError?, _ report: TransportReport, at end: Instant
    ) -> AttemptRecord {
        AttemptRecord(
            context: request.context, method: request.method, url: request.url,
            template: request[option: URLTemplate.self], host: labels.host,
            parent: span?.parent, span: span?.own, begun: begun, ended: end, date: date,
            status: status, error: error, report: report)
    }
}
