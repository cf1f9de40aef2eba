// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The worked example of a song that is played while it is loaded.

/// Plays bytes of sound; returns when there is room for more.
protocol Speaker: Sendable {
    func play(_ bytes: Data) async throws
}

/// Plays a song while it is loaded, as long as this object is kept.
final class SongPreview: Sendable {
    private let playing: Task<Void, any Error>

    /// Begins with the sound when `lead` bytes are there, so that a slow start is not heard.
    init(of song: URL, from loader: DataLoader, on speaker: any Speaker, lead: Int = 65_536) {
        let request = DataLoaderRequest(url: song, sourceIdentifier: "preview")
        playing = Task {
            let chunks = loader.chunks(for: request).makeAsyncIterator()
            // An error page is not played.
            try await chunks.response().validateStatusCode()
            var waiting = Data()
            while waiting.count < lead, let chunk = try await chunks.next() { waiting += chunk }
            try await speaker.play(waiting)
            // While the speaker plays, nothing is asked for, and soon the server has to wait.
            while let chunk = try await chunks.next() { try await speaker.play(chunk) }
        }
    }

    deinit { playing.cancel() }

    /// Cancels the load and closes its connection.
    func close() { playing.cancel() }

    /// Returns when the song was played to its end; throws when it was closed or broke off.
    func end() async throws { try await playing.value }
}

/// A speaker that plays when the test says so.
private final class HeldSpeaker: Speaker {
    private let pieces = EventRecorder<(bytes: Data, done: CheckedContinuation<Void, Never>)>()

    func play(_ bytes: Data) async throws {
        await withCheckedContinuation { pieces.record((bytes, $0)) }
    }

    /// Returns what was played at a call, from 0, once it was made, and lets it return.
    func finish(_ index: Int) async -> Data {
        let piece = await pieces.first(index + 1)[index]
        piece.done.resume()
        return piece.bytes
    }

    /// Returns when there were this many calls.
    func calls(_ count: Int) async { _ = await pieces.first(count) }

    var count: Int { pieces.elements.count }
}

@Suite(.timeLimit(.minutes(5))) struct PreviewSamples {
    private let song = testURL("http://origin.test/song")

    @Test func `the sample of a song begins after its lead and is played to its end`() async throws
    {
        let bed = TestBed()
        let speaker = HeldSpeaker()
        let preview = SongPreview(of: song, from: bed.loader, on: speaker, lead: 3_000)
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(1_000))
        attempt.send(patternBytes(1_000, from: 1_000))
        bed.settle()
        #expect(speaker.count == 0)
        attempt.send(patternBytes(1_000, from: 2_000))
        #expect(await speaker.finish(0) == patternBytes(3_000))
        attempt.send(patternBytes(500, from: 3_000))
        #expect(await speaker.finish(1) == patternBytes(500, from: 3_000))
        attempt.end()
        try await preview.end()
        bed.expectNothingLeft()
    }

    @Test func `the sample of a song plays one that is shorter than its lead`() async throws {
        let bed = TestBed([.respond(status: 200, body: patternBytes(100))])
        let speaker = HeldSpeaker()
        let preview = SongPreview(of: song, from: bed.loader, on: speaker)
        #expect(await speaker.finish(0) == patternBytes(100))
        try await preview.end()
        bed.expectNothingLeft()
    }

    @Test func `the sample of a song makes the server wait while the speaker plays`() async throws {
        let bed = TestBed()
        let speaker = HeldSpeaker()
        let preview = SongPreview(of: song, from: bed.loader, on: speaker, lead: 1_000)
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        bed.settle()
        attempt.send(patternBytes(1_000))
        await speaker.calls(1)
        attempt.send(patternBytes(ChunkWindow.size))
        bed.settle()
        #expect(attempt.isPaused)
        _ = await speaker.finish(0)
        #expect(await speaker.finish(1).count == ChunkWindow.size)
        #expect(await attempt.waitForFlowChanges(2) == [true, false])
        attempt.end()
        try await preview.end()
        bed.expectNothingLeft()
    }

    @Test(arguments: [false, true])
    func `the sample of a song ends its load when it is closed or dropped`(
        isDropped: Bool
    ) async throws {
        let bed = TestBed()
        let speaker = HeldSpeaker()
        var preview: SongPreview? = SongPreview(of: song, from: bed.loader, on: speaker, lead: 10)
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(10))
        _ = await speaker.finish(0)
        if !isDropped {
            preview?.close()
            await #expect(throws: DataLoaderError.cancelled) { try await preview?.end() }
        }
        preview = nil
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
        #expect(speaker.count == 1)
    }

    @Test func `the sample of a song does not play an error page`() async {
        let bed = TestBed([.respond(status: 404, body: Data("not found".utf8))])
        let speaker = HeldSpeaker()
        let preview = SongPreview(of: song, from: bed.loader, on: speaker)
        await #expect(throws: DataLoaderError.status(.notFound)) { try await preview.end() }
        bed.expectNothingLeft()
        #expect(speaker.count == 0)
    }
}
