// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// The upload progress that an owner is told.
@Suite struct UploadProgressTests {
    private static func put(
        _ heard: EventRecorder<BodyProgress>, _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) -> DataLoaderRequest {
        .make { request in
            request.method = .put
            request.body = .data(Data(count: 100))
            request.uploadProgress = { heard.record($0) }
            change(&request)
        }
    }

    private static func progress(_ completed: Int64...) -> [BodyProgress] {
        completed.map { BodyProgress(completed: $0, total: 100) }
    }

    @Test func `upload progress is reported ten times a second at most, ending with the total`()
        async
    {
        let heard = EventRecorder<BodyProgress>()
        let bed = TestBed()
        bed.loader.perform(Self.put(heard))
        let attempt = await bed.attempt(0)
        for bytes: Int64 in 1...20 {
            attempt.reportSent(bytes, of: 100)
            bed.settle()
        }
        #expect(heard.elements == Self.progress(1))
        bed.advance(ProgressReporter.interval)
        attempt.reportSent(30, of: 100)
        attempt.reportSent(31, of: 100)
        bed.settle()
        #expect(heard.elements == Self.progress(1, 30))
        attempt.reportSent(100, of: 100)
        bed.settle()
        #expect(heard.elements == Self.progress(1, 30, 100))
        attempt.respond(status: 200)
        bed.settle()
        #expect(heard.elements == Self.progress(1, 30, 100))
        bed.expectNothingLeft()
    }

    @Test func `delayed upload progress is reported before the outcome`() async {
        let events = EventRecorder<String>()
        let delegate = RecordingDelegate(onEvent: { _ in events.record("outcome") })
        let bed = TestBed(delegate: delegate)
        bed.loader.perform(
            .make { request in
                request.method = .post
                request.body = .data(Data(count: 100))
                request.uploadProgress = { events.record("\($0.completed)") }
            })
        let attempt = await bed.attempt(0)
        attempt.reportSent(1, of: 100)
        attempt.reportSent(60, of: 100)
        attempt.respond(status: 413)
        bed.settle()
        #expect(events.elements == ["1", "60", "outcome"] || events.elements == ["60", "outcome"])
    }

    @Test func `upload progress restarts with another attempt`() async {
        let heard = EventRecorder<BodyProgress>()
        let bed = TestBed()
        bed.loader.perform(Self.put(heard) { $0.retryPolicy = .immediately(maximumRetries: 1) })
        let first = await bed.attempt(0)
        first.reportSent(50, of: 100)
        bed.settle()
        first.reportSent(90, of: 100)
        first.fail(.connectionReset, sent: .written)
        bed.settle()
        let second = await bed.attempt(1)
        second.reportSent(10, of: 100)
        bed.settle()
        first.reportSent(95, of: 100)
        second.reportSent(100, of: 100)
        second.respond(status: 200)
        bed.settle()
        #expect(heard.elements == Self.progress(50, 90, 10, 100))
    }

    @Test func `no upload progress is reported after a cancellation`() async {
        let heard = EventRecorder<BodyProgress>()
        let queue = DispatchQueue(label: "held")
        let bed = TestBed(delegateQueue: queue)
        let token = bed.loader.perform(Self.put(heard))
        let attempt = await bed.attempt(0)
        bed.settle()
        queue.suspend()
        attempt.reportSent(50, of: 100)
        token.cancel()
        queue.resume()
        bed.settle()
        #expect(heard.elements.isEmpty)
        #expect(bed.error == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `upload progress comes one call at a time on a concurrent queue, then the outcome`()
        async
    {
        let inside = Locked(0)
        let order = EventRecorder<Int64>()
        let delegate = RecordingDelegate(onEvent: { _ in order.record(-1) })
        let queue = DispatchQueue(label: "many", attributes: .concurrent)
        let bed = TestBed(delegate: delegate, delegateQueue: queue)
        bed.loader.perform(
            .make { request in
                request.method = .put
                request.body = .data(Data())
                request.uploadProgress = { progress in
                    #expect(
                        inside.withLock {
                            $0 += 1; return $0
                        } == 1)
                    order.record(progress.completed)
                    inside.withLock { $0 -= 1 }
                }
            })
        let attempt = await bed.attempt(0)
        for bytes: Int64 in 1...200 {
            bed.clock.advance(by: ProgressReporter.interval)
            attempt.reportSent(bytes, of: nil)
        }
        attempt.respond(status: 200)
        _ = await delegate.outcomes(1)
        await eventually { order.elements.last == -1 }
        #expect(order.elements.dropLast() == order.elements.dropLast().sorted()[...])
        #expect(order.elements.suffix(2) == [200, -1])
    }

    @Test func `upload progress is reported before an awaited response returns`() async throws {
        let heard = EventRecorder<BodyProgress>()
        let bed = TestBed(
            otherwise: .run { attempt in
                attempt.reportSent(40, of: 100)
                attempt.reportSent(100, of: 100)
                attempt.respond(status: 200)
            })
        _ = try await bed.loader.response(for: Self.put(heard))
        #expect(heard.elements.last == Self.progress(100).last)
    }
}

extension SocketTests {
    @Suite struct SocketUploadTests {
        @Test func `upload progress ends with the number of bytes in the body`() async throws {
            let directory = TemporaryDirectory()
            var configuration = LoopbackServer.Configuration()
            configuration.recordedBodyLimit = 4_000_000
            let server = try LoopbackServer(configuration) { _ in .ok() }
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            let bytes = patternBytes(3_000_000)
            let file = try directory.write(bytes, to: "upload")
            var form = MultipartForm()
            form.add(file: file, for: "file")
            let bodies: [(RequestBody, Int64?)] = [
                (.data(bytes), 3_000_000), (.data(Data("small".utf8)), 5), (.file(file), 3_000_000),
                (.multipart(form), Int64(form.bytes.count)),
                (.stream { InputStream(data: bytes) }, nil),
            ]
            for (index, (body, total)) in bodies.enumerated() {
                let heard = EventRecorder<BodyProgress>()
                var request = DataLoaderRequest(url: server.url())
                request.method = .put
                request.body = body
                request.uploadProgress = { heard.record($0) }
                let begun = ContinuousClock.now
                let response = try await loader.response(for: request)
                let time = ContinuousClock.now - begun
                let progress = heard.elements
                #expect(progress.map(\.completed) == progress.map(\.completed).sorted())
                #expect(progress.last?.completed == total ?? 3_000_000)
                #expect(progress.allSatisfy { $0.total == total })
                // Progress is coalesced to ten reports a second, the first and the last.
                #expect(progress.count <= 3 + Int(time / ProgressReporter.interval))
                let received = await server.waitForRequests(index + 1)[index]
                #expect(received.bodyLength == progress.last?.completed)
                if total != nil { #expect(response.metrics.bodyBytesSent == total) }
            }
            let isWhole = server.requests[3].body == form.bytes
            #expect(isWhole)
            await service.shutDown(gracePeriod: .seconds(1))
        }

        // A form is a body that can be made again.
        @Test func `a multipart form is sent again after a retry and a redirect`() async throws {
            let directory = TemporaryDirectory()
            let server = try LoopbackServer(
                handler: .sequence([
                    .status(503), .status(307, headers: ["Location": "/b"]), .ok("done"),
                ]))
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            var form = MultipartForm()
            form.add("x", for: "field")
            form.add(
                file: try directory.write(patternBytes(100_000), to: "upload"), for: "file")
            var request = DataLoaderRequest(url: server.url("/a"))
            request.method = .put
            request.body = .multipart(form)
            request.retryPolicy = .immediately(maximumRetries: 1)
            let response = try await loader.response(for: request)
            #expect(response.body == Data("done".utf8))
            let requests = await server.waitForRequests(3)
            #expect(requests.map(\.path) == ["/a", "/a", "/b"])
            for sent in requests {
                let isWhole = sent.body == form.bytes
                #expect(isWhole)
                #expect(sent.headers["Content-Type"] == form.contentType)
                #expect(sent.headers["Content-Length"] == "\(form.bytes.count)")
            }
            #expect(response.metrics.bodyBytesSent == Int64(3 * form.bytes.count))
            await service.shutDown(gracePeriod: .seconds(1))
        }

        @Test
        func
            `a file that shrinks during its upload ends the load, and no complete request is sent`()
            async throws
        {
            let directory = TemporaryDirectory()
            let (reading, mayGoOn) = (LoopbackGate(), LoopbackGate())
            var configuration = LoopbackServer.Configuration()
            configuration.receiveBufferSize = 65_536
            let answer = LoopbackResponse(
                [.readBody(atMost: 10_000), .open(reading), .wait(for: mayGoOn), .readBody()]
                    + LoopbackResponse.ok().steps)
            let server = try LoopbackServer(
                configuration,
                handler: LoopbackHandler(early: { _ in answer }, otherwise: { _ in .ok() }))
            defer { server.stop() }
            let file = try directory.write(Data(), to: "upload")
            try FileHandle(forWritingTo: file).truncate(atOffset: 50_000_000)
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            var request = DataLoaderRequest(url: server.url())
            request.method = .put
            request.body = .file(file)
            request.expectsContinue = false
            request.retryPolicy = .immediately(maximumRetries: 3)
            async let ended = try? loader.response(for: request)
            await reading.opened()
            try FileHandle(forWritingTo: file).truncate(atOffset: 49_000_000)
            mayGoOn.open()
            #expect(await ended == nil)
            let requests = await server.waitForRequests(1)
            #expect(requests.map(\.isComplete) == [false])
            await service.shutDown(gracePeriod: .seconds(1))
        }
    }
}
