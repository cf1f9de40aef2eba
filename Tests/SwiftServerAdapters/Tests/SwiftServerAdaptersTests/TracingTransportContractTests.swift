// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import InMemoryTracing
@testable import SwiftServerAdapters
import Testing
import Tracing

@Suite(.timeLimit(.minutes(1))) struct TracingTransportContractTests {
    /// Gives each attempt a parent, as a request would.
    private struct ParentGiver: Transport {
        let next: any Transport
        let parent: ServiceContext

        func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
            var attempt = attempt
            attempt[option: ParentSpan.self] = parent
            attempt[option: IsToldOfParent.self] = true
            return next.start(attempt, sink: sink)
        }

        func reset() async { await next.reset() }

        func shutDown() async { await next.shutDown() }
    }

    @Test func `the transport keeps the contract, with and without spans`() async throws {
        let configuration = DataLoaderService.Configuration()
        let tracer = InMemoryTracer()
        try await checkTransport(
            TracingTransport(configuration.makeDefaultTransport(), tracer))
        #expect(tracer.finishedSpans.isEmpty)
        let parent = tracer.startSpan("parent")
        try await checkTransport(
            ParentGiver(
                next: TracingTransport(configuration.makeDefaultTransport(), tracer),
                parent: parent.context))
        // Each attempt but the one for the cache only; a span that never ends would be active.
        #expect(tracer.finishedSpans.count > 10)
        #expect(tracer.activeSpans.map(\.spanID) == [parent.spanID])
    }

    @Test func `progress, resets and the end are passed on once`() async {
        let tracer = InMemoryTracer()
        let scripted = ScriptedTransport()
        let transport = TracingTransport(scripted, tracer)
        await transport.reset()
        #expect(scripted.resetCount == 1)
        let bed = AdapterBed(wrapping: { _ in transport })
        var request = DataLoaderRequest.make()
        request.method = .put
        request.parentSpan = tracer.startSpan("parent").context
        async let error = bed.error(of: request)
        let attempt = await scripted.attempts(1)[0]
        attempt.reportSent(3, of: 3)
        attempt.respond(status: 200)
        #expect(await error == nil)
        #expect(tracer.finishedSpans.count == 1)
        await bed.end()
        #expect(scripted.isShutDown)
    }
}
