// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import DataLoadingTransport

/// Passes attempts on to another transport, and counts each of them.
///
/// An attempt of a request with a trace is a span of its own, which its server is told.
///
/// An attempt is measured from `start` to its end: body included, also where the load cancelled it,
/// and where there was no connection. An attempt for the cache only is not counted: nothing is sent.
struct InstrumentedTransport: Transport {
    private let next: any Transport
    private let recorder: AttemptRecorder

    fileprivate init(_ next: any Transport, _ recorder: AttemptRecorder) {
        self.next = next
        self.recorder = recorder
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        guard attempt.cachePolicy != .cacheOnly else { return next.start(attempt, sink: sink) }
        // A copy of a request costs as much as to count it.
        guard recorder.mayTrace(attempt) else { return start(attempt, nil, sink) }
        var attempt = attempt
        let span = recorder.trace(&attempt)
        return start(attempt, span, sink)
    }

    private func start(
        _ attempt: TransportRequest, _ span: SpanPlace?, _ sink: any TransportSink
    ) -> any TransportTask {
        next.start(attempt, sink: MeasuredSink(recorder.begin(attempt, span), sink, recorder))
    }

    func reset() async { await next.reset() }

    func shutDown() async { await next.shutDown() }

    var wrapped: (any Transport)? { next }
}

extension Transport {
    /// The transport, with each attempt counted.
    func counted(
        by registry: MetricRegistry, telling listeners: [any AttemptListener] = [],
        tracer: Tracer = Tracer(), timekeeper: any Timekeeper = SystemTimekeeper()
    ) -> any Transport {
        InstrumentedTransport(self, AttemptRecorder(registry, listeners, tracer, timekeeper))
    }
}
