// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import DataLoadingSupport

/// The trace that a request belongs to; nil, the default, for none.
///
/// ```swift
/// request[option: TraceParent.self] = TraceContext(traceparent: incoming)
/// ```
/// With ``Operations`` each attempt is a span of its own, and its server gets the fields
/// `traceparent` and `tracestate`, unless the request sets `traceparent` itself. A redirect to another
/// origin removes the option: no other origin learns of the trace. A field that the request sets itself
/// goes wherever its other fields go.
public enum TraceParent: RequestOption, Sendable {
    /// Nil: nothing is sent.
    public static let defaultValue: TraceContext? = nil
}

extension TransportRequest {
    /// Begins the span of an attempt whose request belongs to a trace, and adds its fields.
    mutating func beginSpan() -> TraceContext? {
        guard let parent = self[option: TraceParent.self] else { return nil }
        guard !headers.contains("traceparent") else { return nil }
        let span = RandomSource.system.withGenerator { parent.makeChild(using: &$0) }
        headers["traceparent"] = span.traceparent
        headers["tracestate"] = span.tracestate
        return span
    }
}
