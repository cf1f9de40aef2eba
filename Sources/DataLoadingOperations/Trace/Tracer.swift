// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Decides which attempts are spans, and which servers are told.
struct Tracer: Sendable {
    private let tracing: Tracing
    /// The hosts, in lower case, that are told although a redirect leads to them.
    private let hosts: Set<String>
    /// Whether a load is a span, of which its attempts are a part.
    private let recordsLoads: Bool
    private let numbers: TraceNumbers

    init(
        _ tracing: Tracing = .whenAsked, propagatesTo hosts: Set<String> = [],
        recordsLoads: Bool = false, random: RandomSource = .system
    ) {
        self.tracing = tracing
        self.hosts = Set(hosts.map(\.asciiLowercased))
        self.recordsLoads = recordsLoads
        numbers = random.withGenerator { TraceNumbers(using: &$0) }
    }

    /// Whether an attempt may be a span: most have no trace, and need no look at their fields.
    func mayBegin(_ attempt: TransportRequest) -> Bool {
        tracing != .whenAsked || attempt.hasOptions
    }

    /// Begins the span of an attempt, and adds the fields that tell its server; nil without a trace,
    /// and for a request that has such a field already.
    func begin(_ attempt: inout TransportRequest) -> SpanPlace? {
        let asked = attempt.traceParent
        guard asked != nil || tracing != .whenAsked, !attempt.headers.contains("traceparent")
        else { return nil }
        let reported = attempt.reportedLoad
        guard let load = place(ofLoad: reported ?? attempt.context.load, asked: asked) else {
            return nil
        }
        // Without its end, which would never be told, the load's span would be missing.
        let parent = recordsLoads && reported != nil ? load.own : load.parent
        let span = SpanPlace(
            own: RandomSource.system.withGenerator { load.own.makeChild(using: &$0) },
            parent: parent)
        if mayTell(attempt) {
            attempt.headers["traceparent"] = span.own.traceparent
            attempt.headers["tracestate"] = span.own.tracestate
        }
        return span
    }

    /// The span of a load that has ended; nil where loads are no spans, and without a trace.
    func place(ofEnded load: Int64, _ request: DataLoaderRequest) -> SpanPlace? {
        // Loads that never started have no number, and would all be one span.
        guard recordsLoads, load != 0 else { return nil }
        return place(ofLoad: load, asked: request.traceParent)
    }

    /// The trace of a load for its line in a log: that of its request, or the one that it has begun.
    ///
    /// Nil without a trace. Where loads are no spans, one that made no attempt has begun none.
    func trace(of response: DataLoaderResponse) -> LoggedTrace? {
        let (request, figures) = (response.request, response.figures)
        guard tracing != .whenAsked || request.hasOptions else { return nil }
        if let span = place(ofEnded: figures.load, request)?.own {
            return LoggedTrace(traceID: span.traceID, spanID: span.spanID)
        }
        let asked = request.traceParent
        let begun = figures.attempts > 0 ? place(ofLoad: figures.load, asked: asked)?.own : nil
        return (asked ?? begun).map { LoggedTrace(traceID: $0.traceID, spanID: nil) }
    }

    private func place(ofLoad load: Int64, asked: TraceContext?) -> SpanPlace? {
        if tracing == .off { return nil }
        if let asked {
            return SpanPlace(
                own: asked.makeChild(span: numbers.spanID(ofLoad: load)), parent: asked)
        }
        guard case .always(let ratio) = tracing, load != 0 else { return nil }
        return SpanPlace(own: numbers.root(ofLoad: load, ratio: ratio), parent: nil)
    }

    /// Whether the server of an attempt may learn of the trace: where a redirect has led to another
    /// origin, that is a server of the first one's choice.
    private func mayTell(_ attempt: TransportRequest) -> Bool {
        guard attempt.hasLeftOrigin else { return true }
        guard !hosts.isEmpty, let origin = try? RequestTarget(attempt.url).origin else {
            return false
        }
        return hosts.contains(origin.host) || hosts.contains("\(origin.host):\(origin.port)")
    }
}
