// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

// The samples of lines, values, bytes and events in the article about streams.

/// A value that has a line of its own.
struct Price: Decodable, Sendable {
    let product: String
    let cents: Int
}

/// Reads the events of a stream until its task is cancelled or the service is shut down.
func follow(
    _ request: DataLoaderRequest, with loader: DataLoader,
    _ receive: @Sendable (ServerSentEvent) -> Void
) async throws {
    do {
        for try await event in loader.events(for: request) { receive(event) }
    } catch DataLoaderError.cancelled {
        return
    }
}

/// Compiled but not run: what it prints cannot be checked.
func printLines(of request: DataLoaderRequest, with loader: DataLoader) async throws {
    for try await line in loader.lines(for: request) {
        print(line)
    }
    for try await price in loader.jsonLines(Price.self, for: request) {
        print(price.product, price.cents)
    }
    for try await event in loader.events(for: request) {
        print(event.id, event.event, event.data)
    }
}

@Suite struct StreamSamples {
    private let events = EventRecorder<ServerSentEvent>()

    private func follow(_ bed: TestBed) -> Task<Void, any Error> {
        var request = DataLoaderRequest.make("/events")
        request.idleTimeout = .seconds(90)  // longer than the server's pauses between heartbeats
        return Task { [request, events, loader = bed.loader] in
            try await DataLoadingTests.follow(request, with: loader) { events.record($0) }
        }
    }

    @Test func `the samples of lines and values read their bodies`() async throws {
        let body = Data("{\"product\": \"a\", \"cents\": 5}\n".utf8)
        let bed = TestBed(otherwise: .respond(status: 200, body: body))
        let reading = Task { try await printLines(of: .make(), with: bed.loader) }
        let error = await #expect(throws: StreamError.self) { try await reading.value }
        #expect(error == .notAnEventStream(contentType: nil))
    }

    @Test func `the sample of bytes adds up the bytes of a body`() async throws {
        let loader = TestBed([.respond(status: 200, body: Data([1, 2]))]).loader
        let request = DataLoaderRequest.make()
        var checksum: UInt32 = 0
        for try await byte in loader.bytes(for: request) {
            checksum = checksum &* 31 &+ UInt32(byte)
        }
        #expect(checksum == 33)
    }

    @Test func `the sample of an event stream connects again until its task is cancelled`()
        async throws
    {
        let bed = TestBed([
            .events("data: 1\n\ndata: cut"), .respond(status: 503), .events("data: 2\n\n"),
        ])
        let following = follow(bed)
        for _ in 0..<3 {
            await eventually { bed.service.runtime.timerQueue.earliest != nil }
            bed.passPause()
        }
        _ = await bed.attempt(3)
        following.cancel()
        try await following.value
        #expect(events.elements.map(\.data) == ["1", "2"])
    }

    @Test func `the sample of an event stream ends when the service is shut down`() async throws {
        let bed = TestBed()
        let following = follow(bed)
        _ = await bed.attempt(0)
        await bed.service.shutDown(gracePeriod: .zero)
        try await following.value
        #expect(bed.transport.attempts.count == 1)
    }
}
