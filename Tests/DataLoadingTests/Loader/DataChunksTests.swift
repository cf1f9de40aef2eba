// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The reader of an iterator sets the pace of the transfer.
@Suite(.timeLimit(.minutes(15))) struct DataChunksTests {
    @Test func `an iterator returns every chunk in order and then nil`() async throws {
        let bed = TestBed()
        let iterator = bed.loader.chunks(for: .make()).makeAsyncIterator()
        async let head = iterator.response()
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200, headers: ["X": "y"])
        #expect(try await head.headers["x"] == "y")
        #expect(attempt.request.streamsResponse)
        attempt.send(Data("a".utf8))
        attempt.send(Data("b".utf8))
        attempt.end()
        #expect(try await iterator.next() == Data("a".utf8))
        #expect(try await iterator.next() == Data("b".utf8))
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(bed.delegate.events.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `an iterator starts no load before the first chunk is asked for`() {
        let bed = TestBed()
        let chunks = bed.loader.chunks(for: .make())
        _ = chunks.makeAsyncIterator()
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `an iterator does not need a delegate that supports chunks`() async throws {
        let bed = TestBed(
            [.respond(status: 200, body: Data("x".utf8))],
            delegate: RecordingDelegate(supportsChunks: false))
        var body = Data()
        for try await chunk in bed.loader.chunks(for: .make()) { body.append(chunk) }
        #expect(body == Data("x".utf8))
    }

    @Test func `an iterator cancels its load when its reader leaves early`() async throws {
        let bed = TestBed()
        let reading = Task {
            for try await _ in bed.loader.chunks(for: .make()) { break }
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(10))
        try await reading.value
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test func `an iterator throws cancelled in a task that is cancelled while it waits`() async {
        let bed = TestBed()
        let reading = Task {
            for try await _ in bed.loader.chunks(for: .make()) {}
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        reading.cancel()
        await #expect(throws: DataLoaderError.cancelled) { try await reading.value }
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test func `an iterator sends nothing in a task that was already cancelled`() async {
        let bed = TestBed()
        let gate = EventRecorder<Void>()
        let reading = Task {
            _ = await gate.first(1)
            for try await _ in bed.loader.chunks(for: .make()) {}
        }
        reading.cancel()
        gate.record(())
        await #expect(throws: DataLoaderError.cancelled) { try await reading.value }
        #expect(bed.transport.attempts.isEmpty)
    }

    // A body without its end must never look complete.
    @Test func `an iterator that is cancelled with unread chunks throws even after the end`()
        async throws
    {
        let bed = TestBed()
        let (iterator, attempt) = try await bed.startedChunks()
        attempt.send(patternBytes(10))
        attempt.end()
        bed.settle()
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await iterator.next()
        }
        // The chunk was there already or is dropped; the body never looks complete.
        let piece = try? await reading.value
        #expect(piece == nil || piece == patternBytes(10))
        if piece == nil {
            await #expect(throws: DataLoaderError.cancelled) { try await iterator.next() }
        }
    }

    @Test func `an iterator throws an error status after its chunks`() async throws {
        let bed = TestBed([.respond(status: 500, body: Data("oops".utf8))])
        let iterator = bed.loader.chunks(for: .make()).makeAsyncIterator()
        #expect(try await iterator.response().statusCode == .internalServerError)
        #expect(try await iterator.next() == Data("oops".utf8))
        await #expect(throws: DataLoaderError.status(.internalServerError)) {
            try await iterator.next()
        }
    }

    @Test func `an iterator throws the error of a broken body after its chunks`() async throws {
        let bed = TestBed()
        let iterator = bed.loader.chunks(for: .make()).makeAsyncIterator()
        async let first = iterator.next()
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(3))
        attempt.fail(.truncatedBody, sent: .headReceived)
        #expect(try await first == patternBytes(3))
        await #expect(throws: DataLoaderError.truncatedBody) { try await iterator.next() }
    }

    @Test func `an iterator without a response throws from both calls`() async {
        let bed = TestBed([.fail(.dns)])
        let iterator = bed.loader.chunks(for: .make()).makeAsyncIterator()
        await #expect(throws: DataLoaderError.dns) { try await iterator.response() }
        await #expect(throws: DataLoaderError.dns) { try await iterator.next() }
    }

    @Test func `an iterator throws cancelled when its loader cancels all loads`() async {
        let bed = TestBed()
        let iterator = bed.loader.chunks(for: .make()).makeAsyncIterator()
        let reading = Task { try await iterator.next() }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        bed.loader.cancelAllLoads()
        await #expect(throws: DataLoaderError.cancelled) { try await reading.value }
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test func `each iterator starts a load of its own`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data("x".utf8)))
        let chunks = bed.loader.chunks(for: .make())
        for _ in 0..<2 {
            var body = Data()
            for try await chunk in chunks { body.append(chunk) }
            #expect(body == Data("x".utf8))
        }
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `each chunk is returned once when several tasks read an iterator`() async throws {
        let bed = TestBed()
        let (iterator, attempt) = try await bed.startedChunks()
        let readers = (0..<4).map { _ in
            Task {
                var read: [Data] = []
                while let piece = try await iterator.next() { read.append(piece) }
                return read
            }
        }
        let pieces = (0..<50).map { patternBytes(100, from: $0 * 100) }
        for piece in pieces { attempt.send(piece) }
        attempt.end()
        var read: [Data] = []
        for reader in readers { read += try await reader.value }
        #expect(Set(read) == Set(pieces))
        #expect(read.count == 50)
    }

    @Test func `an iterator pauses the transfer until its reader asks for more`() async throws {
        let bed = TestBed()
        let (iterator, attempt) = try await bed.startedChunks()
        for index in 0..<4 { attempt.send(patternBytes(65_536, from: index * 65_536)) }
        #expect(attempt.isPaused)
        var body = Data()
        for _ in 0..<2 { body.append(try await iterator.next() ?? Data()) }
        #expect(!attempt.isPaused)
        attempt.end()
        while let piece = try await iterator.next() { body.append(piece) }
        #expect(body == patternBytes(262_144))
    }
}
