// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// A span that waits to be sent.
///
/// It has no object of a user, such as the cause of an error, and no body: thousands may wait.
enum ExportedSpan: Sendable {
    case attempt(AttemptSpan)
    case load(LoadSpan)

    /// The bytes of an `ExportTraceServiceRequest`.
    static func bytes(of spans: [ExportedSpan], _ resource: [Label]) -> [UInt8] {
        var json = JSONWriter()
        json.request("resourceSpans", "scopeSpans", of: resource) { json in
            json.key("spans")
            json.array(of: spans) { json, span in
                switch span {
                case .attempt(let attempt): json.object { attempt.addMembers(to: &$0) }
                case .load(let load): json.object { load.addMembers(to: &$0) }
                }
            }
        }
        return json.bytes
    }
}

/// The kinds of spans, by OTLP's numbers.
enum SpanKind: Int {
    case `internal` = 1
    case client = 3
}

extension JSONWriter {
    /// Writes the place, name, kind and times of a span.
    mutating func span(
        _ own: TraceContext, inside parent: TraceContext?, _ name: String, _ kind: SpanKind,
        from start: Int64, nanoseconds: Int64
    ) {
        member("traceId", own.traceID)
        member("spanId", own.spanID)
        member("parentSpanId", parent?.spanID)
        member("traceState", own.tracestate)
        member("name", name)
        member("kind", kind.rawValue)
        member("startTimeUnixNano", time: start)
        member("endTimeUnixNano", time: start.addingSaturated(max(0, nanoseconds)))
    }

    /// Writes the status of a span; none, which is "unset", for one that did not fail.
    mutating func status(isError: Bool) {
        guard isError else { return }
        key("status")
        object { $0.member("code", 2) }
    }
}
