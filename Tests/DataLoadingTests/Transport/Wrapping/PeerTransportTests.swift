// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
@testable import DataLoadingTesting
import Foundation
import Testing

/// A transport whose attempts a closure answers.
@Suite struct PeerTransportTests {
    private struct Refusal: Error {}

    private static func request(
        _ change: (inout TransportRequest) -> Void = { _ in }
    ) -> TransportRequest {
        var request = TransportRequest(url: testURL("http://peer.test/a"))
        // Most have the system's clock, and their tasks may wait for a thread among all the tests.
        request.idleTimeout = .seconds(1_800)
        change(&request)
        return request
    }

    private func run(
        _ transport: PeerTransport, _ request: TransportRequest = Self.request()
    ) async -> RecordingSink {
        let sink = RecordingSink()
        _ = transport.start(request, sink: sink)
        _ = await sink.end()
        return sink
    }

    @Test func `a closure answers with a head and a whole body`() async {
        let transport = PeerTransport { request in
            var head = DataLoading.ResponseHead(status: .ok)
            head.headers["X-Path"] = request.url.path
            return PeerResponse(head, body: Data("body".utf8))
        }
        let sink = await run(transport)
        #expect(sink.body == Data("body".utf8))
        guard case .end(let report) = await sink.end() else {
            Issue.record("The attempt failed.")
            return
        }
        #expect(report.bodyBytesReceived == 4)
        #expect(report.decodedBytes == 4)
        #expect(sink.endCount == 1)
        // It is forgotten after its sink was told.
        await eventually { transport.count == 0 }
    }

    @Test func `a body in pieces is read no faster than its sink takes it`() async {
        let read = EventRecorder<Int>()
        let started = EventRecorder<Void>()
        let transport = PeerTransport { _ in
            _ = await started.first(1)
            let numbers = Locked(0)
            let pieces = AsyncThrowingStream<Data, any Error> {
                let number = numbers.withLock { number in
                    number += 1
                    return number
                }
                read.record(number)
                return number > 5 ? nil : Data([UInt8(number)])
            }
            return PeerResponse(DataLoading.ResponseHead(status: .ok), pieces: pieces)
        }
        let held = Locked<(any TransportTask)?>(nil)
        let paused = EventRecorder<Void>()
        let sink = RecordingSink { event in
            guard case .bytes(let bytes) = event, bytes == Data([2]) else { return }
            held.withLock { $0 }?.pause()
            paused.record(())
        }
        let task = transport.start(Self.request(), sink: sink)
        held.withLock { $0 = task }
        started.record(())
        _ = await paused.first(1)
        #expect(read.elements == [1, 2])
        task.resume()
        _ = await sink.end()
        #expect(sink.body == Data([1, 2, 3, 4, 5]))
        held.withLock { $0 = nil }
    }

    @Test func `what the closure throws says what may be sent again`() async {
        let errors: [(any Error, DataLoaderError.Kind, SentState)] = [
            (
                TransportFailure(.connectRefused, sent: .nothingWritten), .connectRefused,
                .nothingWritten
            ),
            (DataLoaderError.connectionReset, .connectionReset, .written),
            (Refusal(), .transport(reason: "the peer failed: Refusal"), .written),
        ]
        for (error, kind, sent) in errors {
            let failure = await run(PeerTransport { _ in throw error }).failure()
            #expect(failure?.error.kind == kind)
            #expect(failure?.sent == sent)
        }
        let broken = PeerTransport { _ in
            let pieces = AsyncThrowingStream<Data, any Error> { throw Refusal() }
            return PeerResponse(DataLoading.ResponseHead(status: .ok), pieces: pieces)
        }
        let failure = await run(broken).failure()
        #expect(failure?.error.underlyingError is Refusal)
        #expect(failure?.sent == .headReceived)
    }

    @Test func `a head without a final status is refused`() async {
        let transport = PeerTransport { _ in
            PeerResponse(DataLoading.ResponseHead(status: HTTPStatus(rawValue: 100)))
        }
        #expect(await run(transport).failure()?.error == .framing(reason: "status code"))
    }

    private static let lengths: [(DataLoaderError?, Int, String, HTTPMethod, Int)] = [
        (.truncatedBody, 9, "10", .get, 200),
        (.framing(reason: "more than its length"), 11, "10", .get, 200),
        (.truncatedBody, 0, "1", .post, 404), (nil, 10, "10", .get, 200),
        (nil, 0, "10", .head, 200), (nil, 0, "10", .get, 304), (nil, 0, "0", .get, 200),
        (nil, 3, "10, 10", .get, 200), (nil, 3, "x", .get, 200),
    ]

    @Test(arguments: lengths)
    func `a body must have the length that its head says`(
        error: DataLoaderError?, count: Int, length: String, method: HTTPMethod, status: Int
    ) async {
        let transport = PeerTransport { _ in
            var head = DataLoading.ResponseHead(status: HTTPStatus(rawValue: status))
            head.headers["Content-Length"] = length
            let pieces = AsyncStream { continuation in
                for _ in 0..<count { continuation.yield(Data([1])) }
                continuation.finish()
            }
            return PeerResponse(head, pieces: pieces)
        }
        let sink = await run(transport, Self.request { $0.method = method })
        let failure = await sink.failure()
        #expect(failure?.error == error)
        #expect(failure == nil || failure?.sent == .headReceived)
        #expect(sink.body.count <= 10)
        #expect(sink.endCount == 1)
    }

    @Test func `a body beyond the limit of its request ends the attempt`() async {
        let transport = PeerTransport { _ in
            PeerResponse(DataLoading.ResponseHead(status: .ok), body: Data(count: 11))
        }
        let sink = await run(transport, Self.request { $0.bodyLimit = 10 })
        #expect(await sink.failure()?.error == .bodyTooLarge(limit: 10))
        #expect(sink.body.isEmpty)
        #expect(await run(transport, Self.request { $0.bodyLimit = nil }).body.count == 11)
    }

    @Test func `a cancelled attempt ends at once, although its closure goes on`() async {
        let asked = EventRecorder<Void>()
        let go = EventRecorder<Void>()
        let transport = PeerTransport { _ in
            asked.record(())
            _ = await go.first(1)
            return PeerResponse(DataLoading.ResponseHead(status: .ok))
        }
        let sink = RecordingSink()
        let task = transport.start(Self.request(), sink: sink)
        _ = await asked.first(1)
        #expect(task.mayHaveSent)
        task.pause()
        task.cancel()
        task.cancel()
        #expect(await sink.failure()?.error == .cancelled)
        go.record(())
        task.resume()
        await transport.shutDown()
        #expect(sink.events.elements.count == 1)
        #expect(transport.count == 0)
    }

    @Test func `the task of the closure is cancelled with its attempt`() async {
        let asked = EventRecorder<Void>()
        let isCancelled = EventRecorder<Void>()
        let go = EventRecorder<Void>()
        let transport = PeerTransport { _ in
            await withTaskCancellationHandler {
                asked.record(())
                _ = await go.first(1)
            } onCancel: {
                isCancelled.record(())
                go.record(())
            }
            throw CancellationError()
        }
        let sink = RecordingSink()
        let task = transport.start(Self.request(), sink: sink)
        _ = await asked.first(1)
        task.cancel()
        _ = await isCancelled.first(1)
        #expect(await sink.failure()?.error == .cancelled)
    }

    @Test func `a silent peer ends at the idle limit, and a paused one does not`() async {
        let peer = HeldPeer()
        let silent = RecordingSink()
        let request = Self.request { $0.idleTimeout = .seconds(5) }
        _ = peer.transport.start(request, sink: silent)
        let paused = RecordingSink()
        let task = peer.transport.start(request, sink: paused)
        _ = await peer.asked.first(2)
        task.pause()
        peer.clock.advance(by: .seconds(5))
        let failure = await silent.failure()
        #expect(failure?.error == .idleTimeout)
        #expect(failure?.sent == .written)
        #expect(paused.events.elements.isEmpty)
        task.resume()
        peer.clock.advance(by: .seconds(5))
        #expect(await paused.failure()?.error == .idleTimeout)
        peer.letGo()
    }

    @Test func `shutting down ends every attempt, and refuses later ones`() async {
        let go = EventRecorder<Void>()
        let asked = EventRecorder<Void>()
        let transport = PeerTransport { _ in
            asked.record(())
            _ = await go.first(1)
            return PeerResponse(DataLoading.ResponseHead(status: .ok))
        }
        let sink = RecordingSink()
        _ = transport.start(Self.request(), sink: sink)
        _ = await asked.first(1)
        await transport.shutDown()
        #expect(sink.endCount == 1)
        #expect(await sink.failure()?.error == .serviceInvalidated)
        let late = await run(transport).failure()
        #expect(late?.error == .serviceInvalidated)
        #expect(late?.sent == .nothingWritten)
        #expect(asked.elements.count == 1)
        go.record(())
    }

    @Test func `a load over a peer is retried and judged as any other`() async throws {
        let count = Locked(0)
        let transport = PeerTransport { request in
            let number = count.withLock { number in
                number += 1
                return number
            }
            if number == 1 { throw TransportFailure(.connectRefused, sent: .nothingWritten) }
            return PeerResponse(DataLoading.ResponseHead(status: .notFound), body: Data("no".utf8))
        }
        let bed = TestBed { configuration in
            configuration.transport = transport
            // Its tasks may wait for a thread among all the tests.
            configuration.timeouts.idle = .seconds(1_800)
        }
        let response = try await bed.loader.response(
            for: .make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        #expect(response.error == .status(.notFound))
        #expect(response.body == Data("no".utf8))
        #expect(response.metrics.attempts == 2)
    }
}
