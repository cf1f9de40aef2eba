// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads that share a request: who may join, whose turn it is, and whose its bytes are.
@Suite struct SharedRequestTests {
    private func shared(
        _ path: String = "/", _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make(path) {
            $0.coalescing = .sameRequest
            change(&$0)
        }
    }

    @Test func `a load that has left at the last moment takes no bytes with it`() async throws {
        let bed = TestBed()
        let (request, context) = (shared(), bed.factory.context)
        let target = try RequestTarget(request.url)
        let key = try #require(SharedLoadKey(request, target))
        let gone = Load(
            request, context: context, registry: LoadRegistry(),
            end: TaskEnd(queue: bed.loader.queue), isCounted: true)
        defer { gone.token.unbind() }
        // It is the first one of the list, and follows no more.
        let (carrier, _) = context.carriers.join(key, gone, 0, queue: bed.service.runtime.queue)
        bed.loader.perform(request)
        bed.settle()
        var whole = request
        whole.coalescing = .none
        carrier.started(context.start(whole, carrier, in: context.background))
        (await bed.attempt(0)).respond(status: 200, body: Data("body".utf8))
        let outcome = await bed.delegate.outcomes(1)[0]
        #expect(outcome.response?.metrics.source == .network)
        let entries = await bed.observer.entries(1)
        #expect(entries.map(\.response.metrics.attempts) == [1])
        bed.expectNothingLeft()
        #expect(bed.observer.entries.count == 1)
    }

    @Test func `loads that share take turns with those of other loaders`() async {
        let bed = TestBed { $0.limits.perOrigin = 1 }
        let other = bed.factory.makeDataLoader(delegate: bed.delegate)
        bed.hold(other)
        bed.loader.perform(.make("/first"))
        let first = await bed.attempt(0)
        for index in 0..<5 { bed.loader.perform(shared("/\(index)")) }
        bed.settle()
        other.perform(shared("/other"))
        bed.settle()
        first.respond(status: 200)
        (await bed.attempt(1)).respond(status: 200)
        let third = await bed.attempt(2)
        #expect(bed.transport.attempts[1].request.url.path == "/0")
        #expect(third.request.url.path == "/other")
        bed.loader.cancelAllLoads()
        other.cancelAllLoads()
        _ = await bed.delegate.outcomes(7)
        bed.expectNothingLeft()
    }

    @Test func `a load joins while the request that it shares waits for its retry`() async {
        let bed = TestBed {
            $0.retry.maximumRetryCount = 1
            $0.retry.timer = ExponentialTimer(
                initialTime: .seconds(5), maxTime: .seconds(5), jitter: .none)
            $0.retry.throttledTimer = $0.retry.timer
        }
        bed.loader.perform(shared())
        (await bed.attempt(0)).respond(status: 503)
        bed.settle()
        bed.loader.perform(shared())
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        bed.advance(.seconds(5))
        (await bed.attempt(1)).respond(status: 200)
        let outcomes = await bed.delegate.outcomes(2)
        #expect(outcomes.allSatisfy { $0.response?.error == nil })
        #expect(bed.transport.attempts.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `a redirected request stays as urgent as the loads that have joined it`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(shared("/shared") { $0.priority = .low })
        let first = await bed.attempt(0)
        first.sendHead(status: 302, headers: ["Location": "/moved"])
        for index in 0..<3 { bed.loader.perform(.make("/other\(index)")) }
        bed.settle()
        // The verdict on the head was there before.
        bed.loader.perform(shared("/shared") { $0.priority = .high })
        bed.settle()
        first.end()
        (await bed.attempt(1)).respond(status: 200)
        _ = await bed.attempt(2)
        let paths = bed.transport.attempts.prefix(3).map(\.request.url.path)
        #expect(paths.contains("/moved"))
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `a load that a stored redirect leads to another origin shares nothing there`()
        async throws
    {
        let caching = CacheBed()
        let bed = caching.bed(
            [fresh("", ["Location": "http://other.test/b"], status: 301)], otherwise: .hold)
        let keyed: @Sendable (inout DataLoaderRequest) -> Void = { $0.headers["X-Key"] = "k" }
        _ = try? await bed.loader.response(
            for: .make("/a") {
                keyed(&$0)
                $0.redirectPolicy = .doNotFollow
            })
        bed.loader.perform(
            .make("/b", host: "http://other.test") {
                keyed(&$0)
                $0.coalescing = .sameRequest
            })
        let direct = await bed.attempt(1)
        #expect(direct.request.headers["X-Key"] == "k")
        bed.loader.perform(shared("/a", keyed))
        let redirected = await bed.attempt(2)
        #expect(redirected.request.url.host == "other.test")
        #expect(redirected.request.headers["X-Key"] == nil)
        for attempt in [direct, redirected] { attempt.respond(status: 204) }
        _ = await bed.delegate.outcomes(2)
        bed.expectNothingLeft()
    }
}
