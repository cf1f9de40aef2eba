// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A request body is sent completely in each attempt, or the request is not sent again.
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

    @Test func `a body that can be made again is sent unchanged in every attempt`() throws {
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

    @Test func `the delegate is asked once an attempt for a stream that was already read`() {
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

    @Test func `a load ends with its last outcome when the delegate has no other stream`() {
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

    /// A policy that retries a success too.
    private struct Again: RetryPolicy {
        func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? { .zero }
    }

    // It was kept in case the delegate has no other stream.
    @Test(arguments: [HTTPStatus.ok, .serviceUnavailable], [false, true])
    func `a response that is not whole is no outcome in place of a retry`(
        status: HTTPStatus, isTooLarge: Bool
    ) async {
        let bed = TestBed(
            otherwise: .run { attempt in
                attempt.takeBody()
                attempt.sendHead(status: status.rawValue)
                attempt.send(Data("half".utf8))
                guard !isTooLarge else { return }
                attempt.fail(.truncatedBody, sent: .headReceived)
            }
        ) { $0.limits.body = isTooLarge ? 3 : 1_000 }
        let error: DataLoaderError = isTooLarge ? .bodyTooLarge(limit: 3) : .truncatedBody
        var request = Self.put(Self.oneShot("once"))
        request.retryPolicy = Again()
        bed.loader.perform(request)
        #expect(bed.error == error)
        #expect(bed.ended?.response?.body == nil)
        var second = request
        second.body = Self.oneShot("once")
        let again = second
        await #expect(throws: error) { try await bed.loader.response(for: again) }
        bed.expectNothingLeft()
    }

    @Test func `a stream that was not read is sent again without asking the delegate`() {
        let bed = TestBed([.fail(.connectRefused)], otherwise: .hold)
        bed.loader.perform(Self.put(Self.oneShot("once")))
        bed.settle()
        #expect(bed.transport.attempts.last?.takeBody() == Data("once".utf8))
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `an awaited load with a one-shot body is not retried without a delegate`() async {
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

    // A response in chunks is already being delivered when the delegate would be asked.
    @Test func `a response in chunks is delivered when a retry would need another stream`() {
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

    @Test func `a load that is cancelled while the delegate makes another stream is not retried`() {
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
