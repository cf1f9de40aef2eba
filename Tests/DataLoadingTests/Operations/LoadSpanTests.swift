// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// Spans of loads, and traces that begin with a load.
@Suite(.timeLimit(.minutes(30))) struct LoadSpanTests {
    @Test func `a load is a span with its attempts inside and its waits as events`() async throws {
        let clocked = try TelemetryScene([.respond(status: 503)]) { $0.recordsLoadSpans = true }
        let trace = try TraceContext.sampled
        let load = Task {
            await clocked.load(trace: trace) {
                $0.retryPolicy = .constant(.seconds(3), maximumRetries: 1)
                $0.sourceIdentifier = "feed"
            }
        }
        await clocked.clock.waitForAlarms(1, within: .seconds(3))
        clocked.clock.advance(by: .seconds(3))
        await load.value
        clocked.clock.advance(by: .seconds(1))
        let spans = try await clocked.spans()
        let own = try #require(spans.first { $0.kind == 1 })
        let attempts = spans.filter { $0.kind == 3 }
        #expect(own.parentSpanId == "b7ad6b7169203331")
        #expect(own.name == "load GET")
        #expect(own["dataloading.source"] == "feed")
        #expect(own["dataloading.outcome"] == "success")
        #expect(own.status == nil)
        #expect(own.startTimeUnixNano == "1767225600000000000")
        #expect(own.duration == 3_000_000_000)
        #expect(attempts.count == 2)
        #expect(attempts.allSatisfy { $0.parentSpanId == own.spanId })
        #expect(attempts.allSatisfy { $0.traceId == own.traceId })
        #expect(own.events?.map { $0.attributes["dataloading.wait"] } == ["backoff"])
        #expect(own.events?.map { $0.attributes["dataloading.wait.duration"] } == ["3.0"])
        #expect(own.events?.map(\.timeUnixNano) == [own.endTimeUnixNano])
    }

    @Test func `the span of a load that failed is an error, and of a cancelled one is none`()
        async throws
    {
        let scene = try TelemetryScene([.respond(status: 404), .fail(.tls), .hold]) {
            $0.recordsLoadSpans = true
        }
        let trace = try TraceContext.sampled
        await scene.load(trace: trace)
        await scene.load(trace: trace)
        let cancelled = Task { await scene.load(trace: trace) }
        _ = await scene.transport.attempts(3)
        cancelled.cancel()
        await cancelled.value
        let loads = try await scene.spans().filter { $0.kind == 1 }
        #expect(loads.map { $0["dataloading.outcome"] } == ["failure", "failure", "cancelled"])
        #expect(loads.map { $0["error.type"] } == ["404", "tls", nil])
        #expect(loads.map { $0.status?.code } == [2, 2, nil])
    }

    @Test func `the attempts of loads inside an intercepted one are inside the span of that`()
        async throws
    {
        let twice = Intercept { request, next in
            _ = try await next(request)
            return try await next(request)
        }
        let scene = try TelemetryScene(interceptors: [twice]) { $0.recordsLoadSpans = true }
        await scene.load(trace: try .sampled)
        let spans = try await scene.spans()
        let own = spans.filter { $0.kind == 1 }
        #expect(own.count == 1)
        #expect(
            spans.filter { $0.kind == 3 }.map(\.parentSpanId) == [own[0].spanId, own[0].spanId])
    }

    @Test func `a request that several loads share belongs to no load's span`() async throws {
        let scene = try TelemetryScene([.hold]) {
            $0.recordsLoadSpans = true
            $0.tracing = .always(ratio: 1)
        }
        let delegate = RecordingDelegate()
        let loader = scene.makeDataLoader(delegate)
        for _ in 0..<2 {
            loader.perform(.make("/a", host: "https://api.test") { $0.coalescing = .key("a") })
        }
        let attempt = await scene.transport.attempts(1)[0]
        attempt.respond(status: 200)
        _ = await delegate.outcomes(2)
        let spans = try await scene.spans()
        #expect(spans.filter { $0.kind == 3 }.map(\.parentSpanId) == [nil])
        #expect(spans.filter { $0.kind == 1 }.count == 2)
    }

    @Test func `the attempts of a load without a trace share one that the load begins`()
        async throws
    {
        let scene = try TelemetryScene([.respond(status: 503)]) {
            $0.tracing = .always(ratio: 1)
        }
        await scene.load { $0.retryPolicy = .immediately(maximumRetries: 1) }
        await scene.load()
        await scene.load(trace: try .sampled)
        let spans = try await scene.spans()
        #expect(spans.count == 4)
        #expect(spans[0].traceId == spans[1].traceId)
        #expect(Set(spans.map(\.traceId)).count == 3)
        #expect(spans[3].traceId == "0af7651916cd43dd8448eb211c80319c")
        #expect(spans.prefix(3).allSatisfy { $0.parentSpanId == nil })
        #expect(scene.fields.allSatisfy { $0 != nil })
    }

    @Test func `a trace that a load begins is not told to another origin`() async throws {
        let scene = try TelemetryScene([
            .respond(status: 302, headers: ["Location": "https://other.test/"])
        ]) { $0.tracing = .always(ratio: 1) }
        await scene.load()
        #expect(scene.fields.map { $0 != nil } == [true, false])
        let spans = try await scene.spans()
        #expect(Set(spans.map(\.traceId)).count == 1)
    }

    @Test(arguments: [(0.0, 0...0), (0.25, 200...300), (1.0, 1_000...1_000), (.nan, 0...0)])
    func `a share of the traces that loads begin is sampled`(
        _ ratio: Double, _ expected: ClosedRange<Int>
    ) {
        var generator = SeededGenerator(seed: 3)
        let numbers = TraceNumbers(using: &generator)
        let roots = (1...1_000).map { numbers.root(ofLoad: $0, ratio: ratio) }
        #expect(expected.contains(roots.count { $0.isSampled }))
        #expect(Set(roots.map(\.traceID)).count == 1_000)
        #expect(Set(roots.map(\.spanID)).count == 1_000)
        #expect(roots.allSatisfy { TraceContext(traceparent: $0.traceparent) == $0 })
        #expect(roots == (1...1_000).map { numbers.root(ofLoad: $0, ratio: ratio) })
    }

    @Test func `with tracing off no server is told, and no span is sent`() async throws {
        let scene = try TelemetryScene {
            $0.tracing = .off
            $0.recordsLoadSpans = true
        }
        await scene.load(trace: try .sampled)
        #expect(scene.fields == [nil])
        #expect(try await scene.spans().isEmpty)
    }
}
