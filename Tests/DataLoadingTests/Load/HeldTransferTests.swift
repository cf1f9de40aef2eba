// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a server sends while user code decides about its response.
@Suite(.timeLimit(.minutes(15))) struct HeldTransferTests {
    private struct BlockingPolicy: RetryPolicy {
        let blocker: Blocker

        func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
            blocker.block()
            return nil
        }
    }

    /// A transport whose pause takes time.
    private final class SlowToPause: Transport {
        final class Task: TransportTask {
            let task: any TransportTask
            let blocker: Blocker

            init(_ task: any TransportTask, _ blocker: Blocker) {
                self.task = task
                self.blocker = blocker
            }

            func cancel() { task.cancel() }

            func pause() {
                blocker.block()
                task.pause()
            }

            func resume() { task.resume() }
        }

        let base: any Transport
        let blocker: Blocker

        init(_ base: any Transport, _ blocker: Blocker) {
            self.base = base
            self.blocker = blocker
        }

        func start(
            _ attempt: TransportRequest, sink: any TransportSink
        ) -> any TransportTask {
            Task(base.start(attempt, sink: sink), blocker)
        }

        func reset() async { await base.reset() }

        func shutDown() async { await base.shutDown() }
    }

    @Test func `a transfer continues when user code decides just before the pause`() async {
        let deciding = Blocker()
        let pausing = Blocker()
        let bed = TestBed { configuration in
            guard let base = configuration.transport else { return }
            configuration.transport = SlowToPause(base, pausing)
        }
        bed.loader.perform(.make { $0.retryPolicy = BlockingPolicy(blocker: deciding) })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        await deciding.blocks()
        let isSent = EventRecorder<Void>()
        let body = patternBytes(300_000)
        Thread.detachNewThread {
            attempt.send(body)
            isSent.record(())
        }
        await pausing.blocks()
        deciding.release()
        // The held chunks are delivered and the transfer is resumed before the pause takes effect.
        bed.factory.context.queue.sync {}
        pausing.release()
        _ = await isSent.first(1)
        #expect(!attempt.isPaused)
        attempt.end()
        #expect(await bed.outcome()?.response?.body == body)
        bed.expectNothingLeft()
    }

    @Test func `many small chunks that are held are joined in order`() async {
        let deciding = Blocker()
        let bed = TestBed()
        bed.loader.perform(
            .make { request in
                request.chunks = true
                request.retryPolicy = BlockingPolicy(blocker: deciding)
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        await deciding.blocks()
        let body = patternBytes(20_000)
        for index in body.indices { attempt.send(body[index..<index + 1]) }
        attempt.end()
        deciding.release()
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(bed.delegate.body == body)
        // The initial response, 256 chunks as they arrived, two of 16 KiB at most, the outcome.
        #expect(bed.delegate.events.count < 270)
        bed.expectNothingLeft()
    }

    @Test func `a chunk window joins small chunks and keeps their order`() {
        var window = ChunkWindow()
        let body = patternBytes(ChunkWindow.size)
        var isFull = false
        for index in body.indices { isFull = window.append(body[index..<index + 1]) }
        #expect(isFull)
        var taken = Data()
        var places = 0
        while case .chunk(let bytes) = window.takeFirst() {
            taken += bytes
            places += 1
        }
        #expect(taken == body)
        #expect(places < 300)
    }

    @Test func `a chunk window leaves chunks above 16 KiB as they arrived`() {
        var window = ChunkWindow()
        let chunks = (0..<600).map { Data(repeating: UInt8($0 % 256), count: 16_385) }
        for chunk in chunks { _ = window.append(chunk) }
        var taken: [Data] = []
        while case .chunk(let bytes) = window.takeFirst() { taken.append(bytes) }
        #expect(taken == chunks)
    }
}
