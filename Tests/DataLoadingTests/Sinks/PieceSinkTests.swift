// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// A body goes where the request says, each byte once.
@Suite struct PieceSinkTests {
    private static func get(
        _ heard: EventRecorder<Data>, _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make { request in
            request.responseSink = .closure { heard.record($0) }
            change(&request)
        }
    }

    private static func joined(_ heard: EventRecorder<Data>) -> Data {
        heard.elements.reduce(into: Data()) { $0 += $1 }
    }

    @Test(arguments: [HTTPMethod.head, .get], [200, 204])
    func `a response without a body is within every limit, whatever its Content-Length`(
        method: HTTPMethod, status: Int
    ) async throws {
        guard method == .head || status == 204 else { return }
        let bed = TestBed(
            otherwise: .respond(status: status, headers: ["Content-Length": "5000"]))
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        bed.loader.perform(
            .make {
                $0.method = method
                $0.responseSink = .file(file, limit: 1_000)
            })
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == nil)
        try FileManager.default.removeItem(at: file)
        bed.expectNothingLeft()
    }

    @Test func `a closure sink gets every piece in order before the outcome`() async throws {
        let heard = EventRecorder<Data>()
        let bed = TestBed()
        bed.loader.perform(Self.get(heard))
        let attempt = await bed.attempt(0)
        #expect(attempt.request.streamsResponse)
        attempt.sendHead(status: 200)
        for index in 0..<100 { attempt.send(patternBytes(1_000, from: index * 1_000)) }
        attempt.end()
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == nil)
        #expect(response.body == nil)
        #expect(response.bodyFile == nil)
        #expect(bed.delegate.events.count == 1)
        #expect(Self.joined(heard) == patternBytes(100_000))
        bed.expectNothingLeft()
    }

    @Test func `a closure sink is called for one piece at a time on a concurrent queue`() async {
        let inside = Locked(0)
        let heard = EventRecorder<Data>()
        let queue = DispatchQueue(label: "many", attributes: .concurrent)
        let bed = TestBed(delegateQueue: queue)
        bed.loader.perform(
            .make { request in
                request.responseSink = .closure { data in
                    let count = inside.withLock { count in
                        count += 1
                        return count
                    }
                    #expect(count == 1)
                    heard.record(data)
                    inside.withLock { $0 -= 1 }
                }
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        for index in 0..<500 { attempt.send(patternBytes(100, from: index * 100)) }
        attempt.end()
        _ = await bed.outcome()
        #expect(Self.joined(heard) == patternBytes(50_000))
    }

    @Test func `a slow sink pauses the transfer at 256 KiB and resumes it at half of that`() async {
        let queue = DispatchQueue(label: "slow")
        let heard = EventRecorder<Data>()
        let bed = TestBed(delegateQueue: queue)
        bed.loader.perform(Self.get(heard))
        let attempt = await bed.attempt(0)
        bed.settle()
        queue.suspend()
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(ChunkWindow.size - 1))
        #expect(attempt.pauseCount == 0)
        attempt.send(patternBytes(1))
        #expect(attempt.isPaused)
        queue.resume()
        #expect(await attempt.waitForFlowChanges(2) == [true, false])
        attempt.end()
        _ = await bed.outcome()
        #expect(Self.joined(heard).count == ChunkWindow.size)
    }

    @Test func `a closure sink that throws ends the load and is not called again`() async {
        struct Full: Error {}
        let calls = Locked(0)
        let bed = TestBed()
        bed.loader.perform(
            .make { request in
                request.responseSink = .closure { _ in
                    calls.withLock { $0 += 1 }
                    throw Full()
                }
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(10))
        let error = await bed.outcome()?.response?.error
        #expect(error == .responseSink(reason: "the closure threw Full"))
        #expect(error?.mayHaveBeenProcessed == true)
        attempt.send(patternBytes(10))
        bed.settle()
        #expect(calls.withLock { $0 } == 1)
        #expect(attempt.isCancelled)
        bed.expectNothingLeft()
    }

    @Test func `a closure sink is not called after a cancellation on its queue`() async {
        let heard = EventRecorder<Data>()
        let token = Locked<CancellationToken?>(nil)
        let bed = TestBed()
        let own = bed.loader.perform(
            .make { request in
                request.responseSink = .closure { data in
                    heard.record(data)
                    token.withLock { $0 }?.cancel()
                }
            })
        token.withLock { $0 = own }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(10))
        attempt.send(patternBytes(10))
        _ = await bed.outcome()
        #expect(heard.elements.count == 1)
        #expect(bed.error == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a stream sink is opened for a success, written to and closed`() async throws {
        let directory = TemporaryDirectory()
        let path = directory.url("stream").path
        let made = Locked(0)
        let bed = TestBed([
            .fail(.connectRefused), .respond(status: 503),
            .respond(status: 200, body: patternBytes(500_000)),
        ])
        let response = try await bed.loader.response(
            for: .make { request in
                request.retryPolicy = .immediately(maximumRetries: 2)
                request.responseSink = .outputStream {
                    made.withLock { $0 += 1 }
                    return Self.stream(path)
                }
            })
        #expect(response.error == nil)
        #expect(made.withLock { $0 } == 1)
        let isWhole = try Data(contentsOf: directory.url("stream")) == patternBytes(500_000)
        #expect(isWhole)
    }

    @Test func `a stream sink that fails ends the load`() async {
        struct Missing: Error {}
        let makers: [@Sendable () throws -> OutputStream] = [
            { throw Missing() }, { Self.stream("/nowhere/x") }, { Self.stream("/dev/full") },
        ]
        for make in makers {
            let bed = TestBed(otherwise: .respond(status: 200, body: patternBytes(500_000)))
            bed.loader.perform(.make { $0.responseSink = .outputStream(make) })
            #expect(await bed.outcome()?.response?.error?.name == "response_sink")
            bed.expectNothingLeft()
        }
    }

    private static func stream(_ path: String) -> OutputStream {
        OutputStream(toFileAtPath: path, append: true) ?? OutputStream(toMemory: ())
    }

    // A sink gets no byte twice.
    @Test func `a broken body is loaded again only if no part of it reached the sink`() async throws
    {
        for (sent, attempts) in [(0, 2), (10, 1)] {
            let heard = EventRecorder<Data>()
            let bed = TestBed([
                .run { attempt in
                    attempt.sendHead(status: 200)
                    if sent > 0 { attempt.send(patternBytes(sent)) }
                    attempt.fail(.truncatedBody, sent: .headReceived)
                },
                .respond(status: 200, body: patternBytes(20)),
            ])
            bed.loader.perform(
                Self.get(heard) { $0.retryPolicy = .immediately(maximumRetries: 1) })
            let error = await bed.outcome()?.response?.error
            #expect(error == (sent == 0 ? nil : .truncatedBody))
            #expect(Self.joined(heard) == patternBytes(sent == 0 ? 20 : 10))
            #expect(bed.transport.attempts.count == attempts)
        }
    }

    @Test func `an error body is delivered in memory up to the limit of the service`() async {
        for limit: Int64 in [100, 3] {
            let heard = EventRecorder<Data>()
            let bed = TestBed(otherwise: .respond(status: 500, body: Data("oops".utf8))) {
                $0.limits.body = limit
            }
            bed.loader.perform(Self.get(heard))
            let response = await bed.outcome()?.response
            let isIn = limit == 100
            #expect(
                response?.error
                    == (isIn ? .status(.internalServerError) : .bodyTooLarge(limit: limit)))
            #expect(response?.body == (isIn ? Data("oops".utf8) : nil))
            #expect(heard.elements.isEmpty)
        }
    }

    @Test func `a load in chunks delivers to its delegate and not to its sink`() async {
        let heard = EventRecorder<Data>()
        let bed = TestBed(otherwise: .respond(status: 200, body: patternBytes(10)))
        bed.loader.perform(Self.get(heard) { $0.chunks = true })
        _ = await bed.outcome()
        #expect(bed.delegate.body == patternBytes(10))
        #expect(heard.elements.isEmpty)
    }
}
