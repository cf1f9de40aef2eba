// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

extension OperationsConfiguration {
    /// The name of a malformed variable or setting; nil without one.
    var malformedName: String? { malformedVariables.first ?? push?.fault }

    /// What decides about spans; loads are spans where these are sent.
    func makeTracer() -> Tracer {
        Tracer(
            tracing, propagatesTo: propagatesTo,
            recordsLoads: recordsLoadSpans && push?.sendsTraces == true)
    }

    /// What sends telemetry; nil when none is sent.
    func makeExporter(
        of registry: MetricRegistry, _ transport: (any Transport)?, _ timekeeper: any Timekeeper
    ) -> TelemetryExporter? {
        // A malformed push is told of at the start, and sends nothing.
        guard let push, push.fault == nil else { return nil }
        return TelemetryExporter(
            push, attributes: resourceAttributes, of: registry, transport: transport,
            timekeeper: timekeeper)
    }
}
