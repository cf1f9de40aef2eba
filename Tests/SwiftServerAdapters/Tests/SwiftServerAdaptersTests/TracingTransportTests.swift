// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import InMemoryTracing
@testable import SwiftServerAdapters
import Testing
import Tracing

@Suite(.timeLimit(.minutes(1))) struct TracingTransportTests {
    private let tracer = InMemoryTracer()

    private func bed(_ answers: ScriptedAnswer...) -> AdapterBed {
        AdapterBed(answers, wrapping: { TracingTransport($0, tracer) })
    }

    /// A request whose attempts are inside a span.
    private func request(_ parent: InMemorySpan) -> DataLoaderRequest {
        var request = DataLoaderRequest.make()
        request.parentSpan = parent.context
        return request
    }

    /// The fields of the trace that an attempt has sent.
    private func sent(_ attempt: ScriptedAttempt) -> [String?] {
        [InMemoryTracer.traceIDKey, InMemoryTracer.spanIDKey].map { attempt.request.headers[$0] }
    }

    /// The text of an attribute.
    private func text(_ span: FinishedInMemorySpan, _ name: String) -> String? {
        span.attributes.get(name).map { "\($0)" }
    }

    @Test func `an attempt is a span of a client that its server is told of`() async throws {
        let bed = bed(.respond(status: 200))
        let parent = tracer.startSpan("parent")
        var request = request(parent)
        request[option: URLTemplate.self] = "/{name}"
        #expect(await bed.error(of: request) == nil)
        let span = try #require(tracer.finishedSpans.first)
        #expect(tracer.finishedSpans.count == 1)
        #expect(span.operationName == "GET /{name}")
        #expect(span.kind == .client)
        #expect(span.traceID == parent.traceID)
        #expect(span.parentSpanID == parent.spanID)
        #expect(sent(bed.transport.attempts[0]) == [span.traceID, span.spanID])
        #expect(span.attributes.get("http.request.method") == .string("GET"))
        #expect(span.attributes.get("http.response.status_code") == .int64(200))
        #expect(span.attributes.get("server.address") == .string("api.test"))
        #expect(span.attributes.get("server.port") == .int64(443))
        #expect(span.attributes.get("url.full") == .string("https://api.test/feed?…"))
        #expect(span.attributes.get("url.template") == .string("/{name}"))
        #expect(span.attributes.get("http.request.resend_count") == nil)
        #expect(span.attributes.get("error.type") == nil)
        #expect(span.status == nil)
    }

    @Test func `a request without a parent has no span and sends nothing of one`() async {
        let bed = bed(.respond(status: 200))
        let parent = tracer.startSpan("parent")
        await ServiceContext.withValue(parent.context) {
            #expect(await bed.error(of: .make()) == nil)
        }
        #expect(tracer.finishedSpans.isEmpty)
        #expect(sent(bed.transport.attempts[0]) == [nil, nil])
    }

    @Test(arguments: [
        ("https://api.test/", 443), ("HTTPS://api.test/", 443), ("http://api.test/", 80),
        ("HTTP://api.test/", 80), ("http://api.test:8080/", 8_080),
    ])
    func `a span has the port, which a URL need not name`(_ url: String, _ port: Int64)
        async throws
    {
        let bed = bed(.respond(status: 200))
        var request = DataLoaderRequest(url: try #require(URL(string: url)))
        request.parentSpan = tracer.startSpan("parent").context
        #expect(await bed.error(of: request) == nil)
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("server.port") == .int64(port))
    }

    @Test func `an attempt for the cache only has no span`() async {
        let bed = bed()
        let parent = tracer.startSpan("parent")
        var request = request(parent)
        request.cachePolicy = .cacheOnly
        #expect(await bed.error(of: request) == .notCached)
        #expect(bed.transport.attempts.map { sent($0) } == [[nil, nil]])
        #expect(tracer.finishedSpans.isEmpty)
    }

    @Test func `a failure and a status from 400 are errors of their spans`() async throws {
        let bed = bed(.fail(.tls), .respond(status: 503))
        let parent = tracer.startSpan("parent")
        #expect(await bed.error(of: request(parent)) == .tls)
        _ = await bed.error(of: request(parent))
        let spans = tracer.finishedSpans
        try #require(spans.count == 2)
        #expect(spans.map { $0.attributes.get("error.type") } == [.string("tls"), .string("503")])
        #expect(spans.allSatisfy { $0.status?.code == .error })
        #expect(spans[0].attributes.get("http.response.status_code") == nil)
        #expect(spans[1].attributes.get("http.response.status_code") == .int64(503))
    }

    @Test func `a cancelled attempt is a span without an error`() async throws {
        let bed = bed()
        let parent = tracer.startSpan("parent")
        await bed.cancel(request(parent))
        await bed.end()
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.status == nil)
        #expect(span.attributes.get("error.type") == nil)
        #expect(span.attributes.get("http.response.status_code") == .int64(200))
        #expect(tracer.activeSpans.map(\.spanID) == [parent.spanID])
    }

    @Test func `a retry is a span beside the first, with its number`() async throws {
        let bed = bed(.fail(.connectRefused), .respond(status: 200))
        let parent = tracer.startSpan("parent")
        var request = request(parent)
        request.maximumRetryCount = 1
        #expect(await bed.error(of: request) == nil)
        let spans = tracer.finishedSpans
        try #require(spans.count == 2)
        #expect(spans.map(\.parentSpanID) == [parent.spanID, parent.spanID])
        #expect(spans[0].spanID != spans[1].spanID)
        #expect(
            spans.map { $0.attributes.get("http.request.resend_count") } == [nil, .int64(1)])
        #expect(bed.transport.attempts.map { sent($0)[1] } == spans.map(\.spanID))
    }

    @Test func `a redirect within its origin is told of the trace`() async throws {
        let bed = bed(.respond(status: 302, headers: ["Location": "/b"]), .respond(status: 200))
        let parent = tracer.startSpan("parent")
        #expect(await bed.error(of: request(parent)) == nil)
        #expect(tracer.finishedSpans.map(\.parentSpanID) == [parent.spanID, parent.spanID])
        #expect(bed.transport.attempts.map { sent($0)[1] } == tracer.finishedSpans.map(\.spanID))
    }

    @Test(arguments: [
        "https://other.test/", "https://api.test:8443/", "https://sub.api.test/",
        "https://api.test.other.test/",
    ])
    func `a redirect to another origin is a span and sends nothing of the trace`(
        _ location: String
    ) async throws {
        let bed = bed(
            .respond(status: 307, headers: ["Location": location]),
            // Back again: that server is a stranger's choice now.
            .respond(status: 307, headers: ["Location": "https://api.test/c"]),
            .respond(status: 200))
        let parent = tracer.startSpan("parent")
        #expect(await bed.error(of: request(parent)) == nil)
        let spans = tracer.finishedSpans
        #expect(spans.map(\.parentSpanID) == [parent.spanID, parent.spanID, parent.spanID])
        let attempts = bed.transport.attempts
        try #require(attempts.count == 3 && spans.count == 3)
        #expect(sent(attempts[0]) == [parent.traceID, spans[0].spanID])
        #expect(attempts.dropFirst().allSatisfy { sent($0) == [nil, nil] })
        #expect(
            !attempts.dropFirst().contains { attempt in
                attempt.request.headers.fields.contains { $0.value.contains(parent.traceID) }
            })
    }

    @Test func `no span has a query or a header value`() async {
        let bed = bed(.respond(status: 200, headers: ["Set-Cookie": "s3cret"]), .fail(.tls))
        let parent = tracer.startSpan("parent")
        _ = await bed.error(of: request(parent))
        _ = await bed.error(of: request(parent))
        #expect(tracer.finishedSpans.count == 2)
        for span in tracer.finishedSpans {
            span.attributes.forEach { name, value in
                #expect(!"\(name) \(value)".contains("s3cret"))
            }
        }
    }

    @Test func `a load over a socket is a span with the peer and the version`() async throws {
        let server = try LoopbackServer { _ in .ok("hello") }
        defer { server.stop() }
        var configuration = DataLoaderService.Configuration()
        configuration.transport = TracingTransport(configuration.makeDefaultTransport(), tracer)
        let service = DataLoaderService(configuration: configuration)
        let parent = tracer.startSpan("parent")
        var request = DataLoaderRequest(url: server.url("/a"))
        request.parentSpan = parent.context
        let response = try await service.makeFactory().makeDataLoader().response(for: request)
        #expect(response.body == Data("hello".utf8))
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("network.peer.address") == .string("127.0.0.1"))
        #expect(span.attributes.get("network.protocol.version") == .string("1.1"))
        #expect(span.attributes.get("server.port") == .int64(Int64(server.port)))
        let fields = server.requests.map { $0.headers[InMemoryTracer.spanIDKey] }
        #expect(fields == [span.spanID])
        await service.shutDown(gracePeriod: .zero)
    }
}
