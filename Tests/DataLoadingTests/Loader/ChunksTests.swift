// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// The initial response, chunks in order and one last call; the transfer pauses for the delegate.
@Suite struct ChunksTests {
    private static let half = ChunkWindow.size / 2

    private static func chunked() -> DataLoaderRequest { .make { $0.chunks = true } }

    @Test func `chunks arrive in order, after the initial response and before the outcome`() async {
        let bed = TestBed()
        bed.loader.perform(Self.chunked())
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200, headers: ["X": "y"])
        for index in 0..<100 { attempt.send(patternBytes(1_000, from: index * 1_000)) }
        attempt.end()
        bed.settle()
        let events = bed.delegate.events
        #expect(events.count == 102)
        guard case .initial(let initial)? = events.first, case .success(let last)? = events.last
        else {
            Issue.record("\(events.count) events")
            return
        }
        #expect(initial.headers["x"] == "y")
        #expect(initial.statusCode == .ok)
        #expect(last.body == nil)
        #expect(bed.delegate.body == patternBytes(100_000))
        bed.expectNothingLeft()
    }

    @Test func `chunks of an error status are delivered and end in the error`() async {
        let bed = TestBed([.respond(status: 404, body: Data("gone".utf8))])
        bed.loader.perform(Self.chunked())
        _ = await bed.outcome()
        #expect(bed.delegate.events.count == 3)
        #expect(bed.delegate.body == Data("gone".utf8))
        #expect(bed.error == .status(.notFound))
        #expect(bed.delegate.events.first?.response?.error == .status(.notFound))
    }

    // Attempts that are retried, authorised again or redirected deliver no chunks.
    @Test func `chunks of an attempt that is retried or redirected are never delivered`() async {
        let bed = TestBed(
            [
                .respond(status: 503, body: Data("busy".utf8)),
                .respond(status: 302, headers: ["Location": "/b"], body: Data("moved".utf8)),
                .respond(status: 401, body: Data("who".utf8)),
                .respond(status: 200, body: Data("here".utf8)),
            ], authorisers: [TestAuthoriser()])
        bed.loader.perform(
            .make { request in
                request.chunks = true
                request.retryPolicy = .immediately(maximumRetries: 1)
            })
        _ = await bed.outcome()
        #expect(bed.delegate.events.count == 3)
        #expect(bed.delegate.body == Data("here".utf8))
        bed.expectNothingLeft()
    }

    // No retry after chunks were delivered.
    @Test func `chunks that were delivered rule out a retry`() async {
        let bed = TestBed()
        bed.loader.perform(
            .make { request in
                request.chunks = true
                request.retryPolicy = .immediately(maximumRetries: 5)
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(5))
        attempt.fail(.connectionReset, sent: .headReceived)
        bed.settle()
        #expect(bed.error == .connectionReset)
        #expect(bed.delegate.body == patternBytes(5))
        #expect(bed.transport.attempts.count == 1)
    }

    /// A load whose delegate queue is suspended.
    private static func stalled() async -> (TestBed, DispatchQueue, ScriptedAttempt) {
        let queue = DispatchQueue(label: "slow")
        let bed = TestBed(delegateQueue: queue)
        bed.loader.perform(chunked())
        let attempt = await bed.attempt(0)
        bed.settle()
        queue.suspend()
        attempt.sendHead(status: 200)
        return (bed, queue, attempt)
    }

    @Test func `chunks pause the transfer at 256 KiB and resume it at half of that`() async {
        let (bed, queue, attempt) = await Self.stalled()
        attempt.send(patternBytes(Self.half))
        attempt.send(patternBytes(Self.half - 1))
        #expect(attempt.pauseCount == 0)
        attempt.send(patternBytes(1))
        #expect(attempt.isPaused)
        queue.resume()
        bed.settle()
        #expect(!attempt.isPaused)
        #expect(await attempt.waitForFlowChanges(2) == [true, false])
        attempt.end()
        bed.settle()
        #expect(bed.delegate.body.count == ChunkWindow.size)
    }

    @Test func `chunks that arrive while paused pause the transfer again`() async {
        let (bed, queue, attempt) = await Self.stalled()
        for _ in 0..<5 { attempt.send(patternBytes(ChunkWindow.size)) }
        #expect(attempt.isPaused)
        #expect(attempt.pauseCount == 5)
        queue.resume()
        bed.settle()
        #expect(!attempt.isPaused)
    }

    // The pause for a full window may arrive after the resume for room in it.
    @Test func `a resume that overtakes its pause wins`() async {
        let queue = DispatchQueue(label: "slow")
        let transport = ManualTransport()
        defer { transport.letGo() }
        let bed = TestBed(delegateQueue: queue) { $0.transport = transport }
        bed.loader.perform(Self.chunked())
        let attempt = await transport.attempts.first(1)[0]
        bed.settle()
        queue.suspend()
        attempt.beforePause.withLock {
            $0 = {
                queue.resume()
                bed.settle()
            }
        }
        attempt.sink.didReceive(ResponseHead(status: .ok))
        attempt.sink.didReceive(patternBytes(ChunkWindow.size))
        #expect(!attempt.isPaused.withLock { $0 })
        attempt.sink.didEnd(TransportReport())
        _ = await bed.outcome()
        bed.expectNothingLeft()
    }

    @Test func `chunks continue without calls after the delegate has gone`() async {
        let bed = TestBed()
        bed.loader.perform(Self.chunked())
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        bed.settle()
        bed.loader.delegate = nil
        for _ in 0..<10 {
            attempt.send(patternBytes(ChunkWindow.size))
            bed.settle()
            #expect(!attempt.isPaused)
        }
        attempt.end()
        #expect(await bed.observer.entries(1).count == 1)
        #expect(bed.delegate.events.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `chunks of one load let other loads use the delegate queue in between`() async {
        let queue = DispatchQueue(label: "shared")
        let bed = TestBed(delegateQueue: queue)
        bed.loader.perform(Self.chunked())
        let attempt = await bed.attempt(0)
        bed.settle()
        queue.suspend()
        attempt.sendHead(status: 200)
        for _ in 0..<100 { attempt.send(patternBytes(1)) }
        let other = DataLoaderRequest.make("/other")
        bed.loader.perform(other)
        bed.transport.attempts[1].respond(status: 200)
        attempt.end()
        queue.resume()
        bed.settle()
        let place = bed.delegate.events.firstIndex {
            $0.requestIdentifier == other.uniqueIdentifier && $0.isTerminal
        }
        #expect((place ?? .max) < 40)
        #expect(bed.delegate.events.count == 103)
    }

    @Test func `chunks are dropped when the delegate cancels on its queue`() async {
        let queue = DispatchQueue(label: "owner")
        let bed = TestBed(delegateQueue: queue)
        let token = bed.loader.perform(Self.chunked())
        let attempt = await bed.attempt(0)
        bed.settle()
        queue.suspend()
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(100))
        token.cancel()
        attempt.send(patternBytes(100))
        queue.resume()
        bed.settle()
        #expect(bed.delegate.events.count == 1)
        #expect(bed.error == .cancelled)
    }

    @Test func `chunks are dropped when their load is cancelled before they are delivered`()
        async
    {
        let (bed, queue, attempt) = await Self.stalled()
        attempt.send(patternBytes(10))
        attempt.end()
        bed.loader.cancelAllLoads()
        queue.resume()
        bed.settle()
        #expect(bed.error == .cancelled)
        #expect(bed.delegate.body.isEmpty)
        bed.expectNothingLeft()
    }

    // Pausing and resuming at random points loses and repeats no byte.
    @Test func `chunks lose and repeat no byte, however slow the delegate is`() async {
        for seed in UInt64(1)...60 {
            var generator = SeededGenerator(seed: seed)
            let queue = DispatchQueue(label: "dawdling")
            let bed = TestBed(delegateQueue: queue)
            bed.loader.perform(Self.chunked())
            let attempt = await bed.attempt(0)
            bed.settle()
            attempt.sendHead(status: 200)
            var sent = 0
            var isSuspended = false
            for _ in 0..<40 {
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    isSuspended ? queue.resume() : queue.suspend()
                    isSuspended.toggle()
                }
                if !isSuspended { bed.settle() }
                // The server sends nothing while the transfer is paused.
                guard !attempt.isPaused else { continue }
                let count = Int.random(in: 1...60_000, using: &generator)
                attempt.send(patternBytes(count, from: sent))
                sent += count
            }
            if isSuspended { queue.resume() }
            attempt.end()
            bed.settle()
            #expect(bed.delegate.body == patternBytes(sent), "seed \(seed)")
            bed.expectNothingLeft()
        }
    }
}
