// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A transport that limits how many attempts another one runs.
@Suite struct ThrottledTransportTests {
    private let next = ScriptedTransport()

    private func start(
        _ throttle: ThrottledTransport, _ path: String = "/"
    ) -> (RecordingSink, any TransportTask) {
        let sink = RecordingSink()
        let request = TransportRequest(url: testURL("http://origin.test" + path))
        return (sink, throttle.start(request, sink: sink))
    }

    /// Ends what runs: an attempt and what runs it retain each other until then.
    private func endAll() {
        for attempt in next.attempts { attempt.respond(status: 200) }
    }

    private var paths: [String] { next.attempts.map(\.request.url.path) }

    @Test func `at most the maximum runs, and the others follow in the order in which they came`()
        async
    {
        let throttle = ThrottledTransport(next, maximumInFlight: 2)
        let started = (0..<6).map { start(throttle, "/\($0)") }
        #expect(paths == ["/0", "/1"])
        #expect(throttle.load == (2, 4))
        next.attempts[1].respond(status: 200)
        #expect(paths == ["/0", "/1", "/2"])
        next.attempts[0].fail(.connectionReset)
        next.attempts[2].respond(status: 200)
        #expect(paths == ["/0", "/1", "/2", "/3", "/4"])
        for attempt in next.attempts { attempt.respond(status: 200) }
        next.attempts[5].respond(status: 200)
        for (sink, _) in started { _ = await sink.end() }
        #expect(started.allSatisfy { $0.0.endCount == 1 })
        #expect(throttle.load == (0, 0))
    }

    @Test func `zero pauses, and the maximum may be raised and lowered while attempts wait`() {
        let throttle = ThrottledTransport(next, maximumInFlight: 0)
        let started = (0..<5).map { start(throttle, "/\($0)") }
        #expect(paths.isEmpty)
        throttle.maximumInFlight = 3
        #expect(paths == ["/0", "/1", "/2"])
        throttle.maximumInFlight = 1
        next.attempts[0].respond(status: 200)
        next.attempts[1].respond(status: 200)
        #expect(paths == ["/0", "/1", "/2"])
        next.attempts[2].respond(status: 200)
        #expect(paths == ["/0", "/1", "/2", "/3"])
        throttle.maximumInFlight = .max
        #expect(paths.count == 5)
        #expect(throttle.maximumInFlight == .max)
        endAll()
        withExtendedLifetime(started) {}
    }

    @Test func `an attempt that is cancelled while it waits ends at once and was not sent`() async {
        let throttle = ThrottledTransport(next, maximumInFlight: 1)
        let (_, _) = start(throttle, "/0")
        let (sink, task) = start(throttle, "/1")
        let (_, _) = start(throttle, "/2")
        #expect(!task.mayHaveSent)
        task.pause()
        task.cancel()
        task.cancel()
        let failure = await sink.failure()
        #expect(failure?.error == .cancelled)
        #expect(failure?.sent == .nothingWritten)
        #expect(!task.mayHaveSent)
        #expect(throttle.load == (1, 1))
        next.attempts[0].respond(status: 200)
        #expect(paths == ["/0", "/2"])
        #expect(sink.endCount == 1)
        endAll()
    }

    @Test func `a running attempt is cancelled, paused and resumed in the next transport`() async {
        let throttle = ThrottledTransport(next, maximumInFlight: 1)
        let (sink, task) = start(throttle)
        let attempt = next.attempts[0]
        task.pause()
        #expect(attempt.isPaused)
        task.resume()
        #expect(!attempt.isPaused)
        #expect(task.mayHaveSent)
        attempt.sendHead(status: 200)
        attempt.send(Data("half".utf8))
        task.cancel()
        #expect(attempt.isCancelled)
        #expect(await sink.failure()?.error == .cancelled)
        #expect(sink.body == Data("half".utf8))
        next.flush()
        #expect(throttle.load == (0, 0))
    }

    @Test func `a pause of an attempt that waits holds when it starts`() {
        let throttle = ThrottledTransport(next, maximumInFlight: 0)
        let (_, task) = start(throttle)
        let (_, other) = start(throttle)
        task.pause()
        other.pause()
        other.resume()
        throttle.maximumInFlight = 2
        #expect(next.attempts.map(\.isPaused) == [true, false])
        endAll()
    }

    /// A transport whose only attempt is resumed and paused by its owner while it starts.
    private final class TurningTransport: Transport, TransportTask {
        let owner = Locked<(any TransportTask)?>(nil)
        let isPaused = Locked(false)
        private let pauses = Locked(0)
        private let resumes = Locked(0)

        func start(
            _ attempt: TransportRequest, sink: any TransportSink
        ) -> any TransportTask { self }

        func pause() {
            isPaused.withLock { $0 = true }
            if pauses.add(1) == 1 { owner.withLock { $0 }?.resume() }
        }

        func resume() {
            // The second one is that of the throttle.
            if resumes.add(1) == 2 { owner.withLock { $0 }?.pause() }
            isPaused.withLock { $0 = false }
        }

        func cancel() {}

        func reset() async {}

        func shutDown() async {}
    }

    @Test func `a pause holds although the start resumes the attempt at the same time`() {
        let turning = TurningTransport()
        let throttle = ThrottledTransport(turning, maximumInFlight: 0)
        let (_, task) = start(throttle)
        task.pause()
        turning.owner.withLock { $0 = task }
        throttle.maximumInFlight = 1
        #expect(turning.isPaused.withLock { $0 })
        turning.owner.withLock { $0 = nil }
    }

    @Test func `attempts for the cache only do not wait`() async {
        let throttle = ThrottledTransport(next, maximumInFlight: 0)
        let sink = RecordingSink()
        var request = TransportRequest(url: testURL("http://origin.test/"))
        request.cachePolicy = .cacheOnly
        _ = throttle.start(request, sink: sink)
        #expect(await sink.failure()?.error == .notCached)
    }

    @Test func `a maximum below zero fails every attempt, until it is corrected`() async {
        let throttle = ThrottledTransport(next, maximumInFlight: 0)
        let (waiting, _) = start(throttle)
        throttle.maximumInFlight = -1
        let (late, _) = start(throttle)
        for sink in [waiting, late] {
            #expect(await sink.failure()?.error.name == "invalid_configuration")
        }
        throttle.maximumInFlight = 1
        let (_, _) = start(throttle)
        #expect(next.attempts.count == 1)
        endAll()
    }

    @Test func `shutting down ends what waits, and a chain passes each call on once`() async {
        let inner = ThrottledTransport(next, maximumInFlight: 2)
        let outer = ThrottledTransport(
            ThrottledTransport(inner, maximumInFlight: 1), maximumInFlight: 2)
        let (first, _) = start(outer)
        let (second, _) = start(outer)
        let (third, _) = start(outer)
        #expect(next.attempts.count == 1)
        await outer.reset()
        #expect(next.resetCount == 1)
        #expect(second.endCount + third.endCount == 0)
        await outer.shutDown()
        #expect(next.isShutDown)
        for sink in [second, third] {
            let failure = await sink.failure()
            #expect(failure?.error == .serviceInvalidated)
            #expect(failure?.sent == .nothingWritten)
        }
        // The scripted transport ends nothing by itself.
        next.attempts[0].respond(status: 200)
        _ = await first.end()
        let (late, _) = start(outer)
        #expect(await late.failure()?.error == .serviceInvalidated)
        #expect(next.attempts.count == 1)
    }

    @Test func `a transport that ends an attempt twice gives one place back`() async {
        let manual = ManualTransport()
        let throttle = ThrottledTransport(manual, maximumInFlight: 1)
        for _ in 0..<4 { _ = start(throttle) }
        let attempt = manual.attempts.elements[0]
        attempt.sink.didEnd(TransportReport())
        attempt.sink.didEnd(TransportReport())
        #expect(throttle.load == (1, 2))
        await throttle.shutDown()
        manual.letGo()
    }

    @Test func `starting, cancelling and changing the maximum at once loses no place`() async {
        let transport = ScriptedTransport(otherwise: .respond(status: 200))
        let throttle = ThrottledTransport(transport, maximumInFlight: 1)
        let sinks = await withTaskGroup(of: [RecordingSink].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var sinks: [RecordingSink] = []
                    for round in 0..<100 {
                        let (sink, task) = start(throttle)
                        if (worker + round).isMultiple(of: 3) { task.cancel() }
                        if round.isMultiple(of: 10) { throttle.maximumInFlight = round % 4 }
                        sinks.append(sink)
                    }
                    return sinks
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        throttle.maximumInFlight = 3
        for sink in sinks { _ = await sink.end() }
        transport.flush()
        #expect(sinks.count == 800)
        #expect(sinks.allSatisfy { $0.endCount == 1 })
        #expect(throttle.load == (0, 0))
    }
}
