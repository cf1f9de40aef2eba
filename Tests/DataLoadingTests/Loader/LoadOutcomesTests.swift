// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The outcomes of `perform` as a sequence.
@Suite struct LoadOutcomesTests {
    @Test(arguments: [false, true])
    func `outcomes come in order, one for each load, with and without a delegate`(
        hasDelegate: Bool
    ) async {
        let bed = TestBed()
        if !hasDelegate { bed.loader.delegate = nil }
        let outcomes = bed.loader.outcomes
        let tokens = ["/a", "/b", "/c"].map { bed.loader.perform(.make($0)) }
        _ = await bed.attempt(2)
        await bed.attempt(1).respond(status: 200, body: Data("b".utf8))
        bed.settle()
        tokens[2].cancel()
        bed.settle()
        await bed.attempt(0).fail(.connectRefused)
        bed.settle()

        var seen: [LoadOutcome] = []
        for await outcome in outcomes {
            seen.append(outcome)
            if seen.count == 3 { break }
        }
        #expect(seen.map(\.request.url.path) == ["/b", "/c", "/a"])
        #expect(seen.map { $0.token === tokens[0] } == [false, false, true])
        #expect((try? seen[0].result.get())?.body == Data("b".utf8))
        #expect(seen[1].result.failure == .cancelled)
        #expect(seen[2].result.failure == .connectRefused)
        #expect(bed.delegate.events.count { $0.isTerminal } == (hasDelegate ? 3 : 0))
    }

    @Test func `an outcome of a load in chunks follows the chunks of the delegate`() async {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("x".utf8)))
        let outcomes = bed.loader.outcomes
        bed.loader.perform(.make { $0.chunks = true })
        let outcome = await outcomes.makeAsyncIterator().next()
        #expect(outcome?.response.statusCode == 200)
        #expect(bed.delegate.body == Data("x".utf8))
        bed.loader.delegate = nil
        bed.loader.perform(.make { $0.chunks = true })
        let refused = await outcomes.makeAsyncIterator().next()
        #expect(refused?.result.failure == .chunksNotSupported)
    }

    @Test func `the sequence ends when its loader is dropped, after the unread outcomes`() async {
        let bed = TestBed([.respond(status: 200)])
        weak var dropped: DataLoader?
        let outcomes: LoadOutcomes
        do {
            let loader = bed.factory.makeDataLoader()
            dropped = loader
            outcomes = loader.outcomes
            loader.perform(.make("/done"))
            await eventually { loader.currentRequests.isEmpty }
            loader.perform(.make("/pending"))
            _ = await bed.attempt(1)
            loader.queue.sync {}
        }
        #expect(dropped == nil)
        var paths: [String] = []
        for await outcome in outcomes { paths.append(outcome.request.url.path) }
        #expect(paths == ["/done"])
        #expect(await outcomes.makeAsyncIterator().next() == nil)
        // The queue of the dropped loader is not among those that the bed waits for.
        await eventually { bed.service.runtime.liveLoads.live == 0 }
        bed.expectNothingLeft()
    }

    @Test func `a reader that waits ends when the loader is dropped`() async {
        let bed = TestBed()
        let reading: Task<Int, Never>
        do {
            let loader = bed.factory.makeDataLoader()
            let outcomes = loader.outcomes
            reading = Task { await outcomes.reduce(0) { count, _ in count + 1 } }
            await Task.yield()
            withExtendedLifetime(loader) {}
        }
        #expect(await reading.value == 0)
    }

    @Test func `a cancelled reader ends, and leaves the outcomes to the next one`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let outcomes = bed.loader.outcomes
        let reading = Task { await outcomes.makeAsyncIterator().next() }
        await Task.yield()
        reading.cancel()
        #expect(await reading.value == nil)
        bed.loader.perform(.make())
        bed.settle()
        let late = Task { await outcomes.makeAsyncIterator().next() }
        #expect(await late.value?.response.statusCode == .ok)
    }

    @Test func `the oldest unread outcomes are dropped and counted`() async {
        let bed = TestBed(otherwise: .respond(status: 200)) { $0.limits.queue = 2 }
        let outcomes = bed.loader.outcomes
        for path in ["/a", "/b", "/c", "/d", "/e"] {
            bed.loader.perform(.make(path))
            bed.settle()
        }
        #expect(outcomes.droppedOutcomes == 3)
        #expect(bed.delegate.events.count == 5)
        let iterator = outcomes.makeAsyncIterator()
        let first = await iterator.next()
        let second = await iterator.next()
        #expect([first, second].map { $0?.request.url.path } == ["/d", "/e"])
    }

    @Test func `nothing is collected when the sequence is dropped`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        weak var buffer: OutcomeBuffer?
        do {
            let outcomes = bed.loader.outcomes
            buffer = outcomes.buffer
            #expect(bed.loader.outcomes.buffer === outcomes.buffer)
        }
        #expect(buffer == nil)
        bed.loader.perform(.make("/before"))
        bed.settle()
        let outcomes = bed.loader.outcomes
        bed.loader.perform(.make("/after"))
        #expect(await outcomes.makeAsyncIterator().next()?.request.url.path == "/after")
    }

    @Test func `awaited responses, chunks and calls give no outcomes`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let outcomes = bed.loader.outcomes
        _ = try await bed.loader.response(for: .make())
        for try await _ in bed.loader.chunks(for: .make()) {}
        _ = try await bed.loader.request(testURL("http://origin.test")).response()
        bed.loader.perform(.make("/performed"))
        #expect(await outcomes.makeAsyncIterator().next()?.request.url.path == "/performed")
    }

    @Test(.timeLimit(.minutes(5)))
    func `several readers and many threads share the outcomes without losing one`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let loads = 500
        let seen = EventRecorder<Int64>()
        let readers: [Task<Void, Never>]
        do {
            let loader = bed.factory.makeDataLoader()
            let outcomes = loader.outcomes
            readers = (0..<4).map { _ in
                Task {
                    for await outcome in outcomes { seen.record(outcome.request.uniqueIdentifier) }
                }
            }
            await withTaskGroup { group in
                for _ in 0..<loads { group.addTask { _ = loader.perform(.make()) } }
            }
            _ = await seen.first(loads)
        }
        for reader in readers { await reader.value }
        #expect(Set(seen.elements).count == loads)
        #expect(seen.elements.count == loads)
    }
}

extension Result {
    /// The error of a failure.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
