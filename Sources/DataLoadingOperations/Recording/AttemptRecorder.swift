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

    /// Counts an attempt that starts, and adds the fields of its span.
    func begin(_ attempt: inout TransportRequest) -> BegunAttempt {
        let labels = ActiveLabels(
            host: registry.hosts.label(forURL: attempt.text), method: MethodLabel(attempt.method))
        registry.attemptBegan(labels)
        let span = tracer.begin(&attempt)
        let start =
            listeners.isEmpty
            ? nil : BegunAttempt.Start(request: attempt, date: timekeeper.date)
        return BegunAttempt(labels: labels, span: span, begun: timekeeper.now, start: start)
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
            attempt.span.flatMap { $0.own.sample(at: timekeeper.date.nanosecondsSinceEpoch) })
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
