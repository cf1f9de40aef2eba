// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Passes the events of one attempt on, and counts its end.
final class MeasuredSink: TransportSink {
    private struct State: Sendable {
        var status: HTTPStatus?
        var isEnded = false
    }

    private let labels: ActiveLabels
    private let span: TraceContext?
    private let next: any TransportSink
    private let registry: MetricRegistry
    private let timekeeper: any Timekeeper
    private let begun: Instant
    private let state = Locked(State())

    init(
        _ labels: ActiveLabels, _ span: TraceContext?, _ next: any TransportSink,
        _ registry: MetricRegistry, _ timekeeper: any Timekeeper
    ) {
        self.labels = labels
        self.span = span
        self.next = next
        self.registry = registry
        self.timekeeper = timekeeper
        begun = timekeeper.now
    }

    func didSend(_ bodyBytes: Int64, of total: Int64?) { next.didSend(bodyBytes, of: total) }

    func didReceive(_ head: ResponseHead) {
        state.withLock { $0.status = head.status }
        next.didReceive(head)
    }

    func didReceive(_ bytes: Data) { next.didReceive(bytes) }

    // Counted before it is passed on: who knows of the end of a load finds its attempts counted.
    func didEnd(_ report: TransportReport) {
        ended(report, nil)
        next.didEnd(report)
    }

    func didFail(_ failure: TransportFailure) {
        ended(failure.report, failure.error)
        next.didFail(failure)
    }

    /// Counts the first end only, where a transport ends an attempt twice.
    private func ended(_ report: TransportReport, _ error: DataLoaderError?) {
        let (isFirst, status) = state.withLock { state in
            defer { state.isEnded = true }
            return (!state.isEnded, state.status)
        }
        guard isFirst else { return }
        let reason = error.map { ErrorLabel($0) } ?? status.flatMap { ErrorLabel($0) }
        registry.attemptEnded(
            AttemptLabels(
                host: labels.host, method: labels.method,
                status: status.flatMap { StatusLabel($0) },
                error: reason, version: VersionLabel(reported: report.httpVersion)),
            nanoseconds: timekeeper.now.nanoseconds(since: begun),
            span.flatMap { $0.sample(at: timekeeper.date.nanosecondsSinceEpoch) })
    }
}

extension Date {
    /// The nanoseconds since the Unix epoch; those of its ends outside the range of the type.
    fileprivate var nanosecondsSinceEpoch: Int64 {
        Duration.seconds(timeIntervalSince1970).wholeNanoseconds
    }
}
