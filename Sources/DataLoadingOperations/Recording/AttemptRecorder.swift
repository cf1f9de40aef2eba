// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Counts attempts, and tells listeners of those that ended.
final class AttemptRecorder: Sendable {
    private let registry: MetricRegistry
    private let listeners: [any AttemptListener]
    private let tracer: Tracer
    private let timekeeper: any Timekeeper

    init(
        _ registry: MetricRegistry, _ listeners: [any AttemptListener], _ tracer: Tracer,
        _ timekeeper: any Timekeeper
    ) {
        self.registry = registry
        self.listeners = listeners
        self.tracer = tracer
        self.timekeeper = timekeeper
    }

    /// Begins the span of an attempt, and adds the fields that tell its server.
    ///
    /// It is nil for most attempts, and for all for which `mayTrace` is false.
    func trace(_ attempt: inout TransportRequest) -> SpanPlace? { tracer.begin(&attempt) }

    /// Whether an attempt may be a span.
    func mayTrace(_ attempt: TransportRequest) -> Bool { tracer.mayBegin(attempt) }

    /// Counts an attempt that starts, and that may have a span.
    func begin(_ attempt: TransportRequest, _ span: SpanPlace?) -> BegunAttempt {
        let labels = ActiveLabels(
            host: registry.hosts.label(forURL: attempt.text), method: MethodLabel(attempt.method))
        registry.attemptBegan(labels)
        let details = span == nil && listeners.isEmpty ? nil : makeDetails(attempt, span)
        return BegunAttempt(labels: labels, begun: timekeeper.now, details: details)
    }

    // Not inlined: the compiler then copies the request where there are no details, too.
    @inline(never) private func makeDetails(
        _ attempt: TransportRequest, _ span: SpanPlace?
    ) -> BegunAttempt.Details {
        BegunAttempt.Details(span, listeners.isEmpty ? nil : attempt, timekeeper.date)
    }

    /// Counts the end of an attempt.
    func end(
        _ attempt: BegunAttempt, status: HTTPStatus?, error: DataLoaderError?,
        _ report: TransportReport
    ) {
        let now = timekeeper.now
        let reason = error.map { ErrorLabel($0) } ?? status.flatMap { ErrorLabel($0) }
        registry.attemptEnded(
            AttemptLabels(
                host: attempt.labels.host, method: attempt.labels.method,
                status: status.flatMap { StatusLabel($0) },
                error: reason, version: VersionLabel(reported: report.httpVersion)),
            nanoseconds: now.nanoseconds(since: attempt.begun),
            attempt.details?.span.flatMap {
                $0.own.sample(at: timekeeper.date.nanosecondsSinceEpoch)
            })
        guard let record = attempt.record(status: status, error: error, report, at: now) else {
            return
        }
        for listener in listeners { listener.attemptEnded(record) }
    }
}

extension Date {
    /// The nanoseconds since the Unix epoch; those of its ends outside the range of the type.
    var nanosecondsSinceEpoch: Int64 { Duration.seconds(timeIntervalSince1970).wholeNanoseconds }
}
