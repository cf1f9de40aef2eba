// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads that share the answer to one request.
@Suite struct CoalescingTests {
    private func shared(
        _ path: String = "/", _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make(path) {
            $0.coalescing = .sameRequest
            change(&$0)
        }
    }

    @Test func `a thousand equal loads are one request with a thousand answers`() async {
        let authoriser = TestAuthoriser(.add("X-Key", "k"))
        let bed = TestBed(authorisers: [authoriser])
        for _ in 0..<1_000 { bed.loader.perform(shared()) }
        bed.settle()
        let attempt = await bed.attempt(0)
        attempt.respond(status: 200, headers: ["n": "1"], body: Data("body".utf8))
        let outcomes = await bed.delegate.outcomes(1_000)
        #expect(bed.transport.attempts.count == 1)
        #expect(authoriser.calls.count == 1)
        #expect(outcomes.allSatisfy { $0.response?.body == Data("body".utf8) })
        #expect(outcomes.allSatisfy { $0.response?.headers["n"] == "1" })
        let sources = outcomes.compactMap { $0.response?.metrics.source }
        #expect(sources.filter { $0 == .network }.count == 1)
        #expect(sources.filter { $0 == .coalesced }.count == 999)
        #expect(Set(outcomes.compactMap { $0.response?.metrics.load }).count == 1_000)
        let entries = await bed.observer.entries(1_000)
        #expect(entries.map(\.response.metrics.attempts).reduce(0, +) == 1)
        bed.expectNothingLeft()
        #expect(bed.observer.entries.count == 1_000)
    }

    @Test func `the request goes on until its last load has left`() async {
        let bed = TestBed()
        let tokens = (0..<1_000).map { _ in bed.loader.perform(shared()) }
        let attempt = await bed.attempt(0)
        bed.settle()
        for token in tokens.dropLast() { token.cancel() }
        bed.settle()
        #expect(!attempt.isCancelled)
        attempt.respond(status: 200, body: Data("body".utf8))
        let outcomes = await bed.delegate.outcomes(1_000)
        #expect(outcomes.filter { $0.response?.body == Data("body".utf8) }.count == 1)
        #expect(outcomes.last?.response?.metrics.source == .network)
        bed.expectNothingLeft()
    }

    @Test func `the last load that leaves cancels the request, and its bytes are counted`() async {
        let bed = TestBed()
        let tokens = (0..<3).map { _ in bed.loader.perform(shared()) }
        let attempt = await bed.attempt(0)
        bed.settle()
        for token in tokens { token.cancel() }
        await attempt.waitUntilCancelled()
        // No caller saw the request: its own bytes are counted beside those of its loads.
        let entries = await bed.observer.entries(4)
        #expect(entries.map(\.response.metrics.attempts).reduce(0, +) == 1)
        bed.expectNothingLeft()
    }

    @Test func `each load keeps its own deadline`() async {
        let bed = TestBed()
        bed.loader.perform(shared { $0.timeout = .seconds(5) })
        bed.loader.perform(shared { $0.timeout = .seconds(50) })
        let attempt = await bed.attempt(0)
        bed.advance(.seconds(5))
        let first = await bed.delegate.outcomes(1)[0].response
        // The request that they share was sent, and continues.
        #expect(first?.error == .timedOut(after: .seconds(5), mayHaveBeenProcessed: true))
        #expect(first?.error?.phase == nil)
        attempt.respond(status: 200)
        #expect(await bed.delegate.outcomes(2)[1].response?.error == nil)
        bed.expectNothingLeft()
    }

    @Test func `a load that comes after the head is sent by itself`() async {
        let bed = TestBed()
        bed.loader.perform(shared())
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        bed.loader.perform(shared())
        let second = await bed.attempt(1)
        attempt.end()
        second.respond(status: 200)
        let outcomes = await bed.delegate.outcomes(2)
        #expect(outcomes.allSatisfy { $0.response?.metrics.source == .network })
        bed.expectNothingLeft()
    }

    @Test func `a failure is that of every load, each with its own number`() async {
        let bed = TestBed(otherwise: .hold)
        for _ in 0..<3 { bed.loader.perform(shared()) }
        let attempt = await bed.attempt(0)
        bed.settle()
        attempt.fail(.connectionReset, sent: .headReceived)
        let outcomes = await bed.delegate.outcomes(3)
        #expect(outcomes.allSatisfy { $0.response?.error == .connectionReset })
        #expect(Set(outcomes.compactMap { $0.response?.error?.context?.load }).count == 3)
        bed.expectNothingLeft()
    }

    @Test func `a status that is no success comes with its body to every load`() async {
        let bed = TestBed(otherwise: .respond(status: 404, body: Data("none".utf8)))
        for _ in 0..<3 { bed.loader.perform(shared()) }
        for outcome in await bed.delegate.outcomes(3) {
            #expect(outcome.response?.error?.kind == .status(.notFound))
            #expect(outcome.response?.body == Data("none".utf8))
        }
        bed.expectNothingLeft()
    }

    /// Requests that share nothing with a plain GET of the same URL.
    private static let others: [(String, @Sendable (inout DataLoaderRequest) -> Void)] = [
        ("another field", { $0.headers["Accept"] = "text/plain" }),
        ("another path", { $0.url = testURL("http://origin.test/other") }),
        ("a POST", { $0.method = .post }),
        ("a retry policy", { $0.retryPolicy = .immediately(maximumRetries: 1) }),
        ("another maximum of retries", { $0.maximumRetryCount = 3 }),
        ("a redirect policy that asks", { $0.redirectPolicy = .ask { _ in true } }),
        ("another redirect policy", { $0.redirectPolicy = .doNotFollow }),
        ("another idle limit", { $0.idleTimeout = .seconds(1) }),
        ("another cache policy", { $0.cachePolicy = .reload }),
        ("an option", { $0.expectsContinue = false }),
        ("a body", { $0.body = .data(Data("x".utf8)) }),
        // A shutdown would cancel a load that has joined a stream.
        ("the slots of streams", { $0.slotUse = .stream }),
        ("none", { $0.coalescing = .none }),
        ("a name", { $0.coalescing = .key("name") }),
        ("a handler of progress", { $0.downloadProgress = { _ in } }),
    ]

    @Test(arguments: others.indices)
    func `requests that differ are sent by themselves`(index: Int) async {
        let bed = TestBed()
        bed.loader.perform(shared())
        bed.loader.perform(shared("/", Self.others[index].1))
        let attempts = await bed.transport.attempts(2)
        for attempt in attempts { attempt.respond(status: 200) }
        let outcomes = await bed.delegate.outcomes(2)
        #expect(
            outcomes.allSatisfy { $0.response?.metrics.source == .network },
            "\(Self.others[index].0)")
        bed.expectNothingLeft()
    }

    @Test func `loads of another factory are sent by themselves`() async throws {
        let bed = TestBed(otherwise: .hold)
        let other = bed.service.makeFactory().makeDataLoader(
            delegate: bed.delegate, delivery: .ofTests)
        bed.hold(other)
        bed.loader.perform(shared())
        other.perform(shared())
        for attempt in await bed.transport.attempts(2) { attempt.respond(status: 200) }
        _ = await bed.delegate.outcomes(2)
        bed.expectNothingLeft()
    }

    @Test func `loads of one name share whatever their requests are`() async {
        let bed = TestBed()
        bed.loader.perform(.make("/a") { $0.coalescing = .key("config") })
        bed.loader.perform(.make("/b") { $0.coalescing = .key("config") })
        let attempt = await bed.attempt(0)
        bed.settle()
        attempt.respond(status: 200)
        _ = await bed.delegate.outcomes(2)
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `a request is as urgent as the most urgent load that waits for it`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(shared("/shared") { $0.priority = .low })
        for index in 0..<3 { bed.loader.perform(.make("/other\(index)")) }
        bed.settle()
        bed.loader.perform(shared("/shared") { $0.priority = .high })
        bed.settle()
        await bed.attempt(0).respond(status: 200)
        #expect(await bed.attempt(1).request.url.path == "/shared")
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `a request stays as urgent as it was for loads that are less`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(shared("/shared") { $0.priority = .high })
        bed.loader.perform(.make("/other"))
        bed.loader.perform(shared("/shared") { $0.priority = .low })
        bed.settle()
        await bed.attempt(0).respond(status: 200)
        #expect(await bed.attempt(1).request.url.path == "/shared")
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `chunks and sinks are sent by themselves`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        async let whole = bed.loader.response(for: shared())
        for try await _ in bed.loader.chunks(for: shared()) {}
        let sunk = try await bed.loader.response(
            for: shared { $0.responseSink = .closure { _ in } })
        _ = try await whole
        #expect(sunk.metrics.source == .network)
        #expect(bed.transport.attempts.count == 3)
        bed.expectNothingLeft()
    }

    @Test func `a reset ends the loads and the request that they share`() async {
        let bed = TestBed()
        for _ in 0..<5 { bed.loader.perform(shared()) }
        let attempt = await bed.attempt(0)
        bed.settle()
        await bed.factory.reset()
        let outcomes = await bed.delegate.outcomes(5)
        #expect(outcomes.allSatisfy { $0.response?.error == .reset })
        #expect(attempt.isCancelled)
        bed.expectNothingLeft()
    }

    @Test func `a dropped loader ends its own loads only`() async {
        let bed = TestBed()
        let delegate = RecordingDelegate()
        do {
            let dropped = bed.factory.makeDataLoader(delegate: delegate, delivery: .ofTests)
            dropped.perform(shared())
            bed.loader.perform(shared())
            _ = await bed.attempt(0)
            bed.settle()
            dropped.queue.sync {}
        }
        let attempt = await bed.attempt(0)
        #expect(!attempt.isCancelled)
        attempt.respond(status: 200)
        #expect(await bed.outcome()?.response?.error == nil)
        bed.expectNothingLeft()
    }

    @Test func `loads join, leave and end on many threads, once each`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<2_000 {
                group.addTask {
                    if index.isMultiple(of: 3) {
                        bed.loader.perform(shared("/\(index % 7)")).cancel()
                    } else {
                        bed.loader.perform(shared("/\(index % 7)"))
                    }
                }
            }
        }
        _ = await bed.delegate.outcomes(2_000)
        #expect(bed.transport.attempts.count <= 2_000)
        bed.expectNothingLeft()
        #expect(bed.delegate.events.filter(\.isTerminal).count == 2_000)
    }

    @Test func `the cache is asked first, and is told once`() async throws {
        let caching = CacheBed()
        let bed = caching.bed([.hold])
        for _ in 0..<2 { bed.loader.perform(shared()) }
        let attempt = await bed.attempt(0)
        // A load that comes between the head and the end would be sent by itself.
        bed.settle()
        attempt.respond(
            status: 200, headers: ["Cache-Control": "max-age=60"], body: Data("1".utf8))
        let both = await bed.delegate.outcomes(2)
        #expect(both.map { $0.response.map(text) } == ["1", "1"])
        #expect(try await bed.loader.response(for: shared()).metrics.source == .cache)
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }
}
