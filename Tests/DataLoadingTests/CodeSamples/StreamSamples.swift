// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples of lines and events in the article about streams.

struct LineTooLong: Error {}

/// Puts lines together, which chunks cut anywhere.
struct LineSplitter {
    /// What follows the last line end.
    private(set) var rest = Data()

    /// Returns the lines that end in a chunk.
    mutating func lines(endingIn chunk: Data) throws -> [String] {
        rest += chunk
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Data(lines.removeLast())
        // A server that sends no line end must not fill the memory.
        guard rest.count <= 65_536 else { throw LineTooLong() }
        return lines.map { line in
            let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return String(decoding: content, as: UTF8.self)
        }
    }
}

/// Reads the lines of an event stream until its task is cancelled or the service is shut down.
func follow(
    _ request: DataLoaderRequest, with loader: DataLoader,
    clock: any Clock<Duration> = ContinuousClock(), _ receive: @Sendable (String) -> Void
) async {
    var timer = ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))
    while !Task.isCancelled {
        do {
            let chunks = loader.chunks(for: request).makeAsyncIterator()
            let isStream = try await chunks.response().statusCode == .ok
            var splitter = LineSplitter()
            while let chunk = try await chunks.next() {
                guard isStream else { continue }  // after an error page, `next` throws its status
                timer.reset()
                for line in try splitter.lines(endingIn: chunk) { receive(line) }
            }
        } catch DataLoaderError.serviceInvalidated {
            return
        } catch {
            print("the stream broke:", error)
        }
        try? await clock.sleep(for: timer.timeIntervalAndCalculateNext())
    }
}

/// Compiled but not run: what it prints cannot be checked.
func printLines(of request: DataLoaderRequest, with loader: DataLoader) async throws {
    var splitter = LineSplitter()
    for try await chunk in loader.chunks(for: request) {
        for line in try splitter.lines(endingIn: chunk) {
            print(line)
        }
    }
}

@Suite struct StreamSamples {
    private let pauses = ManualClock()
    private let lines = EventRecorder<String>()

    private func follow(_ bed: TestBed) -> Task<Void, Never> {
        var request = DataLoaderRequest.make("/events")
        request.headers["Accept"] = "text/event-stream"
        request.slotUse = .stream
        request.idleTimeout = .seconds(90)  // longer than the server's pauses between heartbeats
        return Task { [request, pauses, lines, loader = bed.loader] in
            await DataLoadingTests.follow(request, with: loader, clock: pauses) { lines.record($0) }
        }
    }

    /// Ends a pause, and returns how long it was.
    private func passPause() async -> Duration {
        let start = pauses.elapsed
        await pauses.waitForAlarms(1)
        pauses.advanceToNextAlarm()
        return pauses.elapsed - start
    }

    @Test(arguments: 1...7)
    func `the sample of lines puts them together wherever chunks cut them`(size: Int) throws {
        var splitter = LineSplitter()
        var rest = Data("one\r\n\ntwo\nthree".utf8)
        var lines: [String] = []
        while !rest.isEmpty {
            lines += try splitter.lines(endingIn: rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        #expect(lines == ["one", "", "two"])
        #expect(splitter.rest == Data("three".utf8))
    }

    @Test func `the sample of lines refuses one that does not end`() throws {
        var splitter = LineSplitter()
        #expect(try splitter.lines(endingIn: Data(count: 65_536)).isEmpty)
        #expect(throws: LineTooLong.self) { try splitter.lines(endingIn: Data(count: 1)) }
    }

    @Test func `the sample of an event stream connects again until its task is cancelled`()
        async
    {
        let bed = TestBed([
            .respond(status: 200, body: Data("data: 1\ndata: cut".utf8)),
            .respond(status: 503, body: Data("data: no event\n".utf8)), .fail(.connectRefused),
            .respond(status: 200, body: Data("data: 2\n".utf8)),
        ])
        let following = follow(bed)
        #expect(await passPause() == .seconds(1))
        #expect(await passPause() > .seconds(1))
        #expect(await passPause() > .seconds(2))
        #expect(await passPause() == .seconds(1))
        _ = await bed.attempt(4)
        following.cancel()
        await following.value
        #expect(lines.elements == ["data: 1", "data: 2"])
        #expect(bed.transport.attempts.count == 5)
    }

    @Test func `the sample of an event stream ends when the service is shut down`() async {
        let bed = TestBed()
        let following = follow(bed)
        _ = await bed.attempt(0)
        await bed.service.shutDown(gracePeriod: .zero)
        _ = await passPause()
        await following.value
        #expect(bed.transport.attempts.count == 1)
    }
}
