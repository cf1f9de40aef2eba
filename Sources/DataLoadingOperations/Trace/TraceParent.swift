// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

/// The trace that a request belongs to; nil, the default, for none.
///
/// ```swift
/// request[option: TraceParent.self] = TraceContext(traceparent: incoming)
/// ```
/// With ``Operations`` each attempt is a span of its own, and its server gets the fields
/// `traceparent` and `tracestate`, unless the request sets `traceparent` itself. After a redirect to
/// another origin no server is told, whatever origin follows, but those that
/// ``OperationsConfiguration/propagatesTo`` names. A field that the request sets itself stays with its
/// origin, unless the request names it in `fieldsKeptAcrossOrigins`.
public enum TraceParent: RequestOption, Sendable {
    /// Nil: nothing is sent.
    public static let defaultValue: TraceContext? = nil
    /// False: an attempt at another origin is a span too, of which its server is not told.
    public static let staysWithOrigin = false
}
