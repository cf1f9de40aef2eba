// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingAuth
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// The spans of attempts, as OpenTelemetry's conventions for HTTP clients describe them.
@Suite(.timeLimit(.minutes(30))) struct SpanTreeTests {
    private static let parent = "b7ad6b7169203331"

    @Test func `an attempt is a client span with what the conventions demand`() async throws {
        let scene = try TelemetryScene([
            .run { attempt in
                var report = TransportReport()
                report.httpVersion = "2"
                report.remoteAddress = "192.0.2.7"
                attempt.setReport(report)
                attempt.give(.respond(status: 200))
            }
        ])
        await scene.load("/users/7?key=secret", trace: try .sampled) {
            $0[option: URLTemplate.self] = "/users/{id}"
        }
        let span = try #require(try await scene.spans().first)
        #expect(span.traceId == "0af7651916cd43dd8448eb211c80319c")
        #expect(span.parentSpanId == Self.parent)
        #expect(scene.fields == ["00-\(span.traceId)-\(span.spanId)-01"])
        #expect((span.name, span.kind) == ("GET /users/{id}", 3))
        #expect(span.status == nil)
        #expect(span.startTimeUnixNano == "1767225600000000000")
        let expected = [
            "http.request.method": "GET", "server.address": "api.test", "server.port": "443",
            "url.full": "https://api.test/users/{id}", "url.template": "/users/{id}",
            "http.response.status_code": "200", "network.protocol.version": "2",
            "network.peer.address": "192.0.2.7",
        ]
        let found = span.attributes.map { ($0.key, span[$0.key] ?? "?") }
        #expect(Dictionary(uniqueKeysWithValues: found) == expected)
    }

    @Test func `a retry is a span beside the first, and counts from 1`() async throws {
        let scene = try TelemetryScene([.respond(status: 503), .fail(.connectionReset)])
        await scene.load("/a?key=secret", trace: try .sampled) {
            $0.retryPolicy = .immediately(maximumRetries: 2)
        }
        let spans = try await scene.spans()
        #expect(spans.map(\.name) == ["GET", "GET", "GET"])
        #expect(spans.allSatisfy { $0.parentSpanId == Self.parent })
        #expect(Set(spans.map(\.spanId)).count == 3)
        #expect(spans.map { $0["http.request.resend_count"] } == [nil, "1", "2"])
        #expect(spans.map { $0["http.response.status_code"] } == ["503", nil, "200"])
        #expect(spans.map { $0["error.type"] } == ["503", "connection_reset", nil])
        #expect(spans.map { $0.status?.code } == [2, 2, nil])
        #expect(spans.allSatisfy { $0["url.full"] == "https://api.test/a?…" })
    }

    @Test func `a load that is authorised again has a span for each attempt`() async throws {
        let token = TokenAuthoriser(hosts: ["api.test"]) { _ in AccessToken("new") }
        let scene = try TelemetryScene([.respond(status: 401)], authorisers: [token])
        await scene.load(trace: try .sampled)
        let spans = try await scene.spans()
        #expect(spans.map { $0["http.response.status_code"] } == ["401", "200"])
        #expect(spans.map { $0["http.request.resend_count"] } == [nil, "1"])
        #expect(spans.map { $0.status?.code } == [2, nil])
        #expect(spans.allSatisfy { $0.parentSpanId == Self.parent })
    }

    @Test func `a fallback address is a span of its own`() async throws {
        let scene = try TelemetryScene([.fail(.connectRefused)])
        scene.service.resolver.setAddresses(["192.0.2.1", "192.0.2.2"], forHost: "api.test")
        await scene.load(trace: try .sampled)
        let spans = try await scene.spans()
        #expect(spans.map { $0["error.type"] } == ["connect_refused", nil])
        #expect(spans.map { $0["http.request.resend_count"] } == [nil, "1"])
        #expect(spans.allSatisfy { $0["server.address"] == "api.test" })
    }

    @Test func `each hop of a redirect is a span, and only listed hosts of others learn of it`()
        async throws
    {
        let scene = try TelemetryScene([
            .respond(status: 302, headers: ["Location": "/b"]),
            .respond(status: 302, headers: ["Location": "https://other.test/c"]),
            .respond(status: 302, headers: ["Location": "https://CDN.test:8443/d"]),
            .respond(status: 302, headers: ["Location": "https://cdn.test/e"]),
        ]) { $0.propagatesTo = ["cdn.TEST:8443"] }
        await scene.load(trace: try .sampled)
        #expect(scene.fields.map { $0 != nil } == [true, true, false, true, false])
        let spans = try await scene.spans()
        #expect(spans.map { $0["http.request.resend_count"] } == [nil, "1", "2", "3", "4"])
        #expect(spans.allSatisfy { $0.parentSpanId == Self.parent && $0.status == nil })
        #expect(spans.map { $0["server.port"] } == ["443", "443", "443", "8443", "443"])
        #expect(spans[3].spanId == scene.fields[3].map { String($0.dropFirst(36).prefix(16)) })
    }

    @Test func `a path that a template hides stays hidden at the origin that a redirect leads to`()
        async throws
    {
        let location = "https://api.test:8443/reset/secret"
        let scene = try TelemetryScene([.respond(status: 301, headers: ["Location": location])])
        await scene.load("/reset/secret", trace: try .sampled) {
            $0[option: URLTemplate.self] = "/reset/{token}"
        }
        #expect(
            try await scene.spans().map { $0["url.full"] } == [
                "https://api.test/reset/{token}", "https://api.test:8443/reset/{token}",
            ])
    }

    @Test func `a cancelled attempt is no error, and an unknown method no name`() async throws {
        let scene = try TelemetryScene([.hold])
        let trace = try TraceContext.sampled
        let cancelled = Task {
            await scene.load(trace: trace) { $0.method = HTTPMethod(rawValue: "PURGE") }
        }
        _ = await scene.transport.attempts(1)
        cancelled.cancel()
        await cancelled.value
        scene.transport.flush()
        let span = try #require(try await scene.spans().first)
        #expect(span.status == nil)
        #expect(span["error.type"] == nil)
        #expect(span.name == "HTTP")
        #expect(span["http.request.method"] == "_OTHER")
        #expect(span["http.request.method_original"] == "PURGE")
    }

    @Test func `a trace that is not sampled has fields and no spans`() async throws {
        let scene = try TelemetryScene()
        await scene.load(trace: .makeRoot(isSampled: false))
        #expect(scene.fields.map { $0?.suffix(3) } == ["-02"])
        #expect(try await scene.spans().isEmpty)
    }

    @Test func `an authoriser's own request shows no URL`() throws {
        let span = try #require(AttemptSpan(.make(isInternal: true)))
        var json = JSONWriter()
        json.object { span.addMembers(to: &$0) }
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(!text.contains("url."))
        #expect(text.contains("api.test"))
    }

    @Test func `no origin that a chain of redirects chooses learns of a trace`() async throws {
        let hosts = ["api.test", "other.test", "api.test:8443", "third.test"]
        var generator = SeededGenerator(seed: 7)
        let trace = try TraceContext.sampled
        for _ in 0..<200 {
            let chain = (0..<4).map { number in
                "https://\(hosts.randomElement(using: &generator) ?? "x")/\(number)"
            }
            let scene = try TelemetryScene(
                chain.map { .respond(status: 307, headers: ["Location": $0]) })
            await scene.load(trace: trace)
            let ports = scene.transport.attempts.map { $0.request.url.host.map { $0 + "" } }
            for (attempt, host) in zip(scene.transport.attempts, ports) {
                let isHome = host == "api.test" && attempt.request.url.port == nil
                #expect(isHome || attempt.request.headers["traceparent"] == nil)
            }
            #expect(try await scene.spans().count == 5)
        }
    }
}
