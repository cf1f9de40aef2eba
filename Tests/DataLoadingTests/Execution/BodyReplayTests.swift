// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// LC-04, ST-01, ST-05: a body is sent whole each time, or it is not sent again.
@Suite struct BodyReplayTests {
    private static func put(_ body: RequestBody) -> DataLoaderRequest {
        .make { request in
            request.method = .put
            request.body = body
            request.retryPolicy = .immediately(maximumRetries: 1)
        }
    }

    private static func oneShot(_ text: String) -> RequestBody {
        .oneShot(OneShotStream(InputStream(data: Data(text.utf8))))
    }

    @Test func `sends what can be made again as it was`() throws {
        let directory = TemporaryDirectory()
        let file = try directory.write(Data("body".utf8), to: "body")
        let bodies: [RequestBody] = [
            .data(Data("body".utf8)), .file(file),
            .stream(length: 4) { InputStream(data: Data("body".utf8)) },
        ]
        for body in bodies {
            let sent = EventRecorder<Data?>()
            let bed = TestBed(
                otherwise: .run { attempt in
                    sent.record(attempt.takeBody())
                    attempt.fail(.connectionReset, sent: .written)
                })
            bed.loader.perform(Self.put(body))
            #expect(bed.error == .connectionReset)
            #expect(sent.elements == [Data("body".utf8), Data("body".utf8)])
        }
    }

    @Test func `asks the owner for a stream that was read, once for each attempt`() {
        let asked = Locked(0)
        let delegate = RecordingDelegate(bodyStream: {
            asked.withLock { $0 += 1 }
            return InputStream(data: Data("again".utf8))
        })
        let sent = EventRecorder<Data?>()
        let bed = TestBed(
            otherwise: .run { attempt in
                sent.record(attempt.takeBody())
                attempt.fail(.connectionReset, sent: .written)
            }, delegate: delegate)
        bed.loader.perform(Self.put(Self.oneShot("once")))
        #expect(bed.error == .connectionReset)
        #expect(sent.elements == [Data("once".utf8), Data("again".utf8)])
        #expect(asked.withLock { $0 } == 1)
        bed.expectNothingLeft()
    }

    @Test func `ends with the outcome that is there when the owner has no other stream`() {
        for answer in [
            ScriptedAnswer.respond(status: 503, body: Data("busy".utf8)),
            .fail(.connectionReset, sent: .written),
        ] {
            let bed = TestBed([
                .run { attempt in
                    attempt.takeBody()
                    attempt.give(answer)
                }
            ])
            bed.loader.perform(Self.put(Self.oneShot("once")))
            bed.settle()
            #expect(bed.transport.attempts.count == 1)
            #expect(bed.delegate.events.count == 1)
            if case .respond = answer {
                #expect(bed.error == .status(.serviceUnavailable))
                #expect(bed.ended?.response?.body == Data("busy".utf8))
            } else {
                #expect(bed.error == .connectionReset)
            }
            bed.expectNothingLeft()
        }
    }

    @Test func `sends a stream that nobody has read without asking`() {
        let bed = TestBed([.fail(.connectRefused)], otherwise: .hold)
        bed.loader.perform(Self.put(Self.oneShot("once")))
        bed.settle()
        #expect(bed.transport.attempts.last?.takeBody() == Data("once".utf8))
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `awaits no owner when nobody can be asked`() async {
        let bed = TestBed([
            .run { attempt in
                attempt.takeBody()
                attempt.fail(.connectionReset, sent: .written)
            }
        ])
        await #expect(throws: DataLoaderError.connectionReset) {
            try await bed.loader.response(for: Self.put(Self.oneShot("once")))
        }
    }

    // In chunks the response is on its way while the owner would be asked: it is delivered.
    @Test func `delivers in chunks what would need another stream`() {
        let bed = TestBed([
            .run { attempt in
                attempt.takeBody()
                attempt.give(.respond(status: 503, body: Data("busy".utf8)))
            }
        ])
        var request = Self.put(Self.oneShot("once"))
        request.chunks = true
        bed.loader.perform(request)
        #expect(bed.error == .status(.serviceUnavailable))
        #expect(bed.delegate.body == Data("busy".utf8))
    }

    @Test func `cancels while the owner makes another stream`() {
        let token = Locked<CancellationToken?>(nil)
        let delegate = RecordingDelegate(bodyStream: {
            token.withLock { $0 }?.cancel()
            return InputStream(data: Data("again".utf8))
        })
        let bed = TestBed(
            [
                .run { attempt in
                    attempt.takeBody()
                    attempt.fail(.connectionReset, sent: .written)
                }
            ], delegate: delegate)
        bed.transport.flush()
        let performed = bed.loader.queue.sync {
            let own = bed.loader.perform(Self.put(Self.oneShot("once")))
            token.withLock { $0 = own }
            return own
        }
        #expect(bed.error == .cancelled)
        #expect(performed.isCancelled)
        #expect(bed.transport.attempts.count == 1)
        #expect(bed.delegate.events.count == 1)
        bed.expectNothingLeft()
    }
}
