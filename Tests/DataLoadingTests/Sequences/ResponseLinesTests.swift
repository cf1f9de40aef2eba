// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct ResponseLinesTests {
    private func bed(_ body: String, status: Int = 200) -> TestBed {
        TestBed(otherwise: .respond(status: status, body: Data(body.utf8)))
    }

    @Test func `a loop reads the lines of a body`() async throws {
        let bed = bed("one\r\n\ntwo\nthree")
        var lines: [String] = []
        for try await line in bed.loader.lines(for: .make()) { lines.append(line) }
        #expect(lines == ["one", "", "two", "three"])
        bed.expectNothingLeft()
    }

    @Test func `bytes that are not UTF-8 become replacement characters`() async throws {
        let bed = TestBed([.respond(status: 200, body: Data([0x61, 0xFF, 0xC3, 0x0A, 0xA9]))])
        var lines = bed.loader.lines(for: .make()).makeAsyncIterator()
        #expect(try await lines.next() == "a\u{FFFD}\u{FFFD}")
        #expect(try await lines.next() == "\u{FFFD}")
        #expect(try await lines.next() == nil)
    }

    @Test func `a character that pieces cut is whole in its line`() async throws {
        let bed = TestBed()
        let reading = Task { try await bed.loader.lines(for: .make()).first { _ in true } }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        for byte in "é€😀\r\n".utf8 { attempt.send(Data([byte])) }
        #expect(try await reading.value == "é€😀")
    }

    @Test func `an empty body has no lines`() async throws {
        let bed = bed("", status: 204)
        var lines = bed.loader.lines(for: .make()).makeAsyncIterator()
        #expect(try await lines.next() == nil)
        #expect(try await lines.next() == nil)
    }

    @Test func `a status that is no success is thrown with the body and no line is read`()
        async throws
    {
        let bed = bed("no\nlines\n", status: 503)
        var lines = bed.loader.lines(for: .make()).makeAsyncIterator()
        let error = await #expect(throws: DataLoaderError.self) { try await lines.next() }
        #expect(error?.kind == .status(503))
        #expect(error?.body == Data("no\nlines\n".utf8))
        #expect(error?.context?.url == "http://origin.test/")
        #expect(try await lines.next() == nil)
        bed.expectNothingLeft()
    }

    @Test func `an error body without an end is read up to 64 KiB and then cancelled`() async {
        let bed = TestBed()
        let reading = Task {
            var lines = bed.loader.lines(for: .make()).makeAsyncIterator()
            return try await lines.next()
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 500)
        attempt.send(patternBytes(100_000))
        let error = await #expect(throws: DataLoaderError.self) { try await reading.value }
        #expect(error?.kind == .status(500))
        #expect(error?.body == patternBytes(65_536))
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test func `a line that is too long is refused and its load cancelled`() async throws {
        let bed = TestBed()
        let reading = Task {
            var lines: [String] = []
            do {
                let limit = 10
                for try await line in bed.loader.lines(for: .make(), maxLineLength: limit) {
                    lines.append(line)
                }
                return (lines, nil as (any Error)?)
            } catch {
                return (lines, error)
            }
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(Data("one\n0123456789\n".utf8))
        attempt.send(Data("0123456789A".utf8))
        let (lines, error) = await reading.value
        #expect(lines == ["one", "0123456789"])
        #expect(error as? StreamError == .lineTooLong(number: 3, limit: 10))
        #expect(error.map { "\($0)" } == "line 3 is longer than 10 bytes")
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test func `the error of a broken body comes after its lines`() async throws {
        let bed = TestBed()
        let reading = Task {
            var iterator = bed.loader.lines(for: .make()).makeAsyncIterator()
            var lines: [String] = []
            while let line = try? await iterator.next() { lines.append(line) }
            return lines
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(Data("one\ntwo\ncut".utf8))
        attempt.fail(.truncatedBody, sent: .headReceived)
        #expect(await reading.value == ["one", "two"])
    }

    @Test func `a reader of lines pauses the transfer until it asks for more`() async throws {
        let bed = TestBed()
        let line = String(repeating: "x", count: 65_535)
        let steps = EventRecorder<Void>()
        let reading = Task {
            var iterator = bed.loader.lines(for: .make()).makeAsyncIterator()
            _ = try await iterator.next()
            _ = await steps.first(1)
            var count = 1
            while let next = try await iterator.next() { count += next == line ? 1 : 0 }
            return count
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(Data("\(line)\n".utf8))
        bed.settle()
        await eventually { !attempt.isPaused }
        for _ in 0..<6 { attempt.send(Data("\(line)\n".utf8)) }
        #expect(attempt.isPaused)
        steps.record(())
        await eventually { !attempt.isPaused }
        attempt.end()
        #expect(try await reading.value == 7)
    }

    @Test func `leaving the loop cancels the load`() async throws {
        let bed = TestBed()
        let reading = Task {
            for try await _ in bed.loader.lines(for: .make()) { break }
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(Data("one\ntwo\n".utf8))
        try await reading.value
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test func `a task that is cancelled while it waits for a line throws cancelled`() async {
        let bed = TestBed()
        let reading = Task {
            for try await _ in bed.loader.lines(for: .make()) {}
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(Data("cut".utf8))
        reading.cancel()
        await #expect(throws: DataLoaderError.cancelled) { try await reading.value }
        bed.expectNothingLeft()
    }

    @Test func `lines are read when their loader is dropped`() async throws {
        let bed = bed("a\nb\n")
        var lines = bed.factory.makeDataLoader().lines(for: .make()).makeAsyncIterator()
        #expect(try await lines.next() == "a")
        #expect(try await lines.next() == "b")
    }

    @Test func `a loop reads the bytes of a body`() async throws {
        let bed = TestBed()
        let reading = Task {
            var bytes = Data()
            for try await byte in bed.loader.bytes(for: .make()) { bytes.append(byte) }
            return bytes
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(1_000))
        attempt.send(patternBytes(1_000, from: 1_000))
        attempt.end()
        #expect(try await reading.value == patternBytes(2_000))
        bed.expectNothingLeft()
    }

    @Test func `bytes of a status that is no success are in its error`() async throws {
        let bed = bed("gone", status: 410)
        var bytes = bed.loader.bytes(for: .make()).makeAsyncIterator()
        let error = await #expect(throws: DataLoaderError.self) { try await bytes.next() }
        #expect(error?.body == Data("gone".utf8))
        #expect(try await bytes.next() == nil)
    }

    @Test func `an empty piece of a body is no byte`() async throws {
        let bed = TestBed()
        let reading = Task {
            var bytes: [UInt8] = []
            for try await byte in bed.loader.bytes(for: .make()) { bytes.append(byte) }
            return bytes
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        for piece in [[], [1], [], [], [2, 3], []] as [[UInt8]] { attempt.send(Data(piece)) }
        attempt.end()
        #expect(try await reading.value == [1, 2, 3])
    }
}
