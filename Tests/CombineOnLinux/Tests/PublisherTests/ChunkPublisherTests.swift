// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

private typealias ChunkProbe = Probe<Data, DataLoaderError>

@Suite(.timeLimit(.minutes(5))) struct ChunkPublisherTests {
    /// A probe whose load has its head.
    private func started(
        _ probe: ChunkProbe, in bed: TestBed, status: Int = 200
    ) async -> ScriptedAttempt {
        bed.loader.chunkPublisher(for: .make()).subscribe(probe)
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: status)
        // The load starts on the loader's queue, and can be paused once its attempt has a handle.
        bed.settle()
        return attempt
    }

    @Test(arguments: [false, true])
    func `pieces come in order, also on a concurrent queue, and then the end`(
        isConcurrent: Bool
    ) async {
        let queue = DispatchQueue(label: "owner", attributes: isConcurrent ? .concurrent : [])
        let bed = TestBed(delegateQueue: queue)
        let probe = ChunkProbe()
        let attempt = await started(probe, in: bed)
        let body = patternBytes(200_000)
        for start in stride(from: 0, to: body.count, by: 1_000) {
            attempt.send(body[start..<start + 1_000])
        }
        attempt.end()
        let events = await probe.completed()
        #expect(probe.values.reduce(into: Data()) { $0 += $1 } == body)
        #expect(probe.values.allSatisfy { !$0.isEmpty })
        #expect(events.last?.isFinished == true)
        bed.expectNothingLeft()
        #expect(probe.events.count == events.count)
    }

    @Test func `no load starts before a piece is demanded`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .none)
        bed.loader.chunkPublisher(for: .make()).subscribe(probe)
        probe.request(.none)
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
        probe.request(.max(1))
        _ = await bed.attempt(0)
        probe.cancel()
        bed.expectNothingLeft()
    }

    // Pieces as large as the window are not joined.
    @Test func `a subscriber receives as many pieces as it demands`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .max(2))
        let attempt = await started(probe, in: bed)
        for _ in 0..<6 { attempt.send(patternBytes(ChunkWindow.size)) }
        bed.settle()
        #expect(probe.events.count == 2)
        probe.request(.max(1))
        bed.settle()
        #expect(probe.events.count == 3)
        probe.request(.max(1))
        probe.request(.max(1))
        bed.settle()
        #expect(probe.events.count == 5)
        attempt.end()
        bed.settle()
        // The end comes after the last piece, which is not demanded yet.
        #expect(probe.events.count == 5)
        probe.request(.unlimited)
        bed.settle()
        #expect(probe.values.count == 6)
        #expect(probe.events.last?.isFinished == true)
        bed.expectNothingLeft()
    }

    @Test func `a demand inside of the call with a piece counts like one that is returned`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .max(1)) { probe, _ in
            switch probe.values.count {
            case 1: return .max(1)
            case 2:
                probe.request(.max(1))
                return .none
            case 3:
                probe.request(.max(1))
                return .max(1)
            default: return .none
            }
        }
        let attempt = await started(probe, in: bed)
        for _ in 0..<8 { attempt.send(patternBytes(ChunkWindow.size)) }
        bed.settle()
        #expect(probe.events.count == 5)
        probe.cancel()
        bed.expectNothingLeft()
    }

    @Test func `demands that together exceed every number are without limit`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .max(.max)) { _, _ in .max(.max) }
        let attempt = await started(probe, in: bed)
        for _ in 0..<3 { attempt.send(patternBytes(ChunkWindow.size)) }
        attempt.end()
        #expect(await probe.completed().count == 4)
    }

    @Test func `a body that is not demanded is read up to the window and then paused`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .max(1))
        let attempt = await started(probe, in: bed)
        attempt.send(patternBytes(1_000))
        bed.settle()
        #expect(probe.events.count == 1)
        attempt.send(patternBytes(ChunkWindow.size - 1))
        bed.settle()
        #expect(!attempt.isPaused)
        attempt.send(patternBytes(1))
        bed.settle()
        #expect(attempt.isPaused)
        #expect(probe.events.count == 1)
        probe.request(.unlimited)
        bed.settle()
        #expect(!attempt.isPaused)
        #expect(probe.values.reduce(0) { $0 + $1.count } == 1_000 + ChunkWindow.size)
        attempt.end()
        #expect(await probe.completed().last?.isFinished == true)
        bed.expectNothingLeft()
    }

    @Test func `a paused body is cancelled with its subscription`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .max(1))
        let attempt = await started(probe, in: bed)
        for _ in 0..<3 { attempt.send(patternBytes(ChunkWindow.size)) }
        bed.settle()
        #expect(attempt.isPaused)
        probe.cancel()
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
        #expect(probe.events.count == 1)
    }

    @Test func `a load whose body was read ends although its pieces are not demanded`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .max(1))
        let attempt = await started(probe, in: bed)
        for _ in 0..<2 { attempt.send(patternBytes(ChunkWindow.size)) }
        attempt.end()
        bed.expectNothingLeft()
        #expect(probe.events.count == 1)
        // Nothing that ends loads reaches this one, and its pieces can be read.
        await bed.factory.reset()
        probe.request(.max(1))
        #expect(await probe.completed().count == 3)
    }

    @Test func `a status that is no success fails with its body and gives no piece`() async {
        let bed = TestBed()
        let probe = ChunkProbe(demand: .max(1))
        let attempt = await started(probe, in: bed, status: 404)
        attempt.send(Data("not ".utf8))
        attempt.send(Data("here".utf8))
        bed.settle()
        #expect(probe.events.isEmpty)
        attempt.end()
        let events = await probe.completed()
        #expect(events.count == 1)
        #expect(events.first?.error == .status(.notFound))
        #expect(events.first?.error?.body == Data("not here".utf8))
        #expect(events.first?.error?.context != nil)
        bed.expectNothingLeft()
    }

    @Test func `an error page without an end is cancelled when the error has enough of it`() async {
        let bed = TestBed()
        let probe = ChunkProbe()
        let attempt = await started(probe, in: bed, status: 500)
        let page = patternBytes(100_000)
        attempt.send(page.prefix(65_535))
        bed.settle()
        #expect(probe.events.isEmpty)
        attempt.send(page.dropFirst(65_535))
        await attempt.waitUntilCancelled()
        let events = await probe.completed()
        #expect(events.count == 1)
        #expect(events.first?.error == .status(.internalServerError))
        #expect(events.first?.error?.body == page.prefix(65_536))
        #expect(events.first?.error?.context?.load != nil)
        bed.expectNothingLeft()
        #expect(probe.events.count == 1)
    }

    @Test func `a body that breaks off fails after its pieces`() async {
        let bed = TestBed()
        let probe = ChunkProbe()
        let attempt = await started(probe, in: bed)
        attempt.send(Data("half".utf8))
        bed.settle()
        attempt.fail(.truncatedBody, sent: .written)
        let events = await probe.completed()
        #expect(events.count == 2)
        #expect(events.first?.value == Data("half".utf8))
        #expect(events.last?.error == .truncatedBody)
        bed.expectNothingLeft()
    }

    @Test func `a load without a response fails, whatever is demanded`() async {
        let bed = TestBed([.fail(.connectRefused)])
        let probe = ChunkProbe(demand: .max(1))
        bed.loader.chunkPublisher(for: .make()).subscribe(probe)
        let events = await probe.completed()
        #expect(events.count == 1)
        #expect(events.first?.error == .connectRefused)
        bed.expectNothingLeft()
    }

    @Test func `a publisher of pieces whose loader is gone fails as cancelled`() async {
        let bed = TestBed()
        let publisher = bed.factory.makeDataLoader().chunkPublisher(for: .make())
        let probe = ChunkProbe(demand: .max(1))
        publisher.subscribe(probe)
        let events = await probe.completed()
        #expect(events.count == 1)
        #expect(events.first?.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a body comes whole over a socket when its pieces are demanded one by one`()
        async throws
    {
        let server = try LoopbackServer { _ in .ok(.pattern(3_000_000)) }
        defer { server.stop() }
        let service = DataLoaderService()
        let loader = service.makeFactory().makeDataLoader()
        let probe = ChunkProbe(demand: .max(1)) { _, _ in .max(1) }
        loader.chunkPublisher(for: DataLoaderRequest(url: server.url("/"))).subscribe(probe)
        let events = await probe.completed()
        #expect(probe.values.reduce(0) { $0 + $1.count } == 3_000_000)
        #expect(events.last?.isFinished == true)
        await service.shutDown(gracePeriod: .zero)
    }
}
