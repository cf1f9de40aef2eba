// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// Reads on an actor of what is there already: leaving the actor and coming back would cost more.
@Suite struct StayingOnActorTests {
    @Test func `an actor that reads chunks that are there stays on its executor`() async throws {
        let bed = TestBed()
        let (iterator, attempt) = try await bed.startedChunks()
        for index in 0..<3 { attempt.send(patternBytes(65_536, from: index * 65_536)) }
        attempt.end()
        bed.settle()
        let reader = CountingReader()
        #expect(try await reader.read(iterator) == patternBytes(196_608))
        #expect(reader.executor.jobs == 1)
    }

    @Test func `an actor that reads lines, bytes and events that are there stays on its executor`()
        async throws
    {
        let body = Data(String(repeating: "data: a\n\n", count: 4).utf8)
        let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
        let bed = TestBed(otherwise: .respond(status: 200, headers: headers, body: body))
        let reader = CountingReader()
        #expect(try await reader.jobs(reading: bed.loader.lines(for: .make())) == 0)
        #expect(try await reader.jobs(reading: bed.loader.bytes(for: .make())) == 0)
        #expect(try await reader.jobs(reading: bed.loader.events(for: .make())) == 0)
    }

    @Test func `an actor that reads outcomes that are there stays on its executor`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let iterator = bed.loader.outcomes.makeAsyncIterator()
        for _ in 0..<3 { bed.loader.perform(.make()) }
        bed.settle()
        let reader = CountingReader()
        #expect(await reader.read(3, of: iterator) == 3)
        #expect(reader.executor.jobs == 1)
    }
}

private actor CountingReader {
    nonisolated let executor = CountingExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func read(_ chunks: DataChunks.Iterator) async throws -> Data {
        var body = Data()
        while let chunk = try await chunks.next(isolation: self) { body.append(chunk) }
        return body
    }

    // How often the task comes back for elements that came with the first one.

    func jobs(reading lines: ResponseLines) async throws -> Int {
        var iterator = lines.makeAsyncIterator()
        _ = try await iterator.next(isolation: self)
        let before = executor.jobs
        for _ in 0..<3 { #expect(try await iterator.next(isolation: self) != nil) }
        return executor.jobs - before
    }

    func jobs(reading bytes: ResponseBytes) async throws -> Int {
        var iterator = bytes.makeAsyncIterator()
        _ = try await iterator.next(isolation: self)
        let before = executor.jobs
        for _ in 0..<3 { #expect(try await iterator.next(isolation: self) != nil) }
        return executor.jobs - before
    }

    func jobs(reading events: ServerSentEvents) async throws -> Int {
        var iterator = events.makeAsyncIterator()
        _ = try await iterator.next(isolation: self)
        let before = executor.jobs
        for _ in 0..<3 { #expect(try await iterator.next(isolation: self) != nil) }
        return executor.jobs - before
    }

    func read(_ count: Int, of outcomes: LoadOutcomes.Iterator) async -> Int {
        var read = 0
        while read < count, await outcomes.next(isolation: self) != nil { read += 1 }
        return read
    }
}

/// Counts how often a task comes to it.
private final class CountingExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "reader")
    private let count = Locked(0)

    var jobs: Int { count.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
        count.withLock { $0 += 1 }
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
