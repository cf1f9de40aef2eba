// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Tracing

/// Makes each attempt of a request that belongs to a trace a span of its own.
///
/// ```swift
/// configuration.transport = TracingTransport(
///     configuration.makeDefaultTransport(), InstrumentationSystem.tracer)
/// request.parentSpan = ServiceContext.current
/// ```
/// The parent comes with the request, because an attempt begins on no task. A retry, a redirect and
/// a further address are spans beside each other. A redirect to another origin is a span too, but
/// no field of the trace is sent there. A service with this transport has no `taskExecutor`, and
/// requests that have a parent share no answer.
struct TracingTransport: Transport {
    private let next: any Transport
    private let tracer: any Tracer

    init(_ next: any Transport, _ tracer: any Tracer) {
        self.next = next
        self.tracer = tracer
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        // Nothing is sent that is for the cache only.
        guard let parent = attempt[option: ParentSpan.self], attempt.cachePolicy != .cacheOnly
        else { return next.start(attempt, sink: sink) }
        var attempt = attempt
        let words = [attempt.method.rawValue, attempt[option: URLTemplate.self]]
        let span = tracer.startSpan(
            words.compactMap(\.self).joined(separator: " "), context: parent, ofKind: .client)
        span.updateAttributes { $0.describe(attempt) }
        if attempt[option: IsToldOfParent.self] {
            tracer.inject(span.context, into: &attempt.headers, using: FieldInjector())
        }
        return next.start(attempt, sink: SpanSink(span, next: sink))
    }

    func reset() async { await next.reset() }

    func shutDown() async { await next.shutDown() }

    var wrapped: (any Transport)? { next }
}

extension DataLoaderRequest {
    /// The context of the span that the request's attempts are inside of; nil for no spans.
    var parentSpan: ServiceContext? {
        get { self[option: ParentSpan.self] }
        set {
            self[option: ParentSpan.self] = newValue
            self[option: IsToldOfParent.self] = newValue != nil
        }
    }
}

/// Stays with a load wherever redirects lead: a span is kept here, and sent nowhere by itself.
enum ParentSpan: RequestOption {
    static let defaultValue: ServiceContext? = nil
    static var staysWithOrigin: Bool { false }
}

/// Whether the server gets the fields of the trace; a redirect to another origin removes the option.
enum IsToldOfParent: RequestOption {
    static let defaultValue = false
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey name: String, into headers: inout HTTPHeaders) {
        headers[name] = value
    }
}

/// Passes the events of an attempt on, and ends its span before its last event.
private final class SpanSink: TransportSink {
    private let span: any Span
    private let next: any TransportSink

    init(_ span: any Span, next: any TransportSink) {
        self.span = span
        self.next = next
    }

    func didSend(_ bodyBytes: Int64, of total: Int64?) { next.didSend(bodyBytes, of: total) }

    func didReceive(_ head: ResponseHead) {
        span.attributes["http.response.status_code"] = head.status.rawValue
        if head.status.rawValue >= 400 { fail("\(head.status.rawValue)") }
        next.didReceive(head)
    }

    func didReceive(_ bytes: Data) { next.didReceive(bytes) }

    func didEnd(_ report: TransportReport) {
        end(report)
        next.didEnd(report)
    }

    func didFail(_ failure: TransportFailure) {
        // OpenTelemetry: an intended cancellation is no error.
        if failure.error != .cancelled { fail(failure.error.name) }
        end(failure.report)
        next.didFail(failure)
    }

    private func fail(_ reason: String) {
        span.attributes["error.type"] = reason
        span.setStatus(SpanStatus(code: .error))
    }

    private func end(_ report: TransportReport) {
        span.attributes["network.protocol.version"] = report.httpVersion
        span.attributes["network.peer.address"] = report.remoteAddress
        span.end()
    }
}

extension SpanAttributes {
    /// Adds what is known of an attempt that begins; never the query of its URL.
    fileprivate mutating func describe(_ attempt: TransportRequest) {
        self["http.request.method"] = attempt.method.rawValue
        self["url.full"] = attempt.url.redactedText
        self["url.template"] = attempt[option: URLTemplate.self]
        self["server.address"] = attempt.url.host()
        let isPlain = attempt.url.scheme?.lowercased() == "http"
        self["server.port"] = attempt.url.port ?? (isPlain ? 80 : 443)
        let resends = attempt.context.resendCount
        self["http.request.resend_count"] = resends > 0 ? resends : nil
    }
}
