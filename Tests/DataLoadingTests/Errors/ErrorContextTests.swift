// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// What an error says of its load: which one, how far it came, and why it was not tried again.
@Suite struct ErrorContextTests {
    private typealias Change = @Sendable (inout DataLoaderRequest) -> Void

    @Test func `an error says yes if any attempt of its load may have been processed`() {
        let bed = TestBed([.fail(.noResponse, sent: .written)], otherwise: .fail(.connectRefused))
        bed.loader.perform(.make { $0.maximumRetryCount = 1 })
        while bed.passPause() {}
        #expect(bed.error == .connectRefused)
        #expect(bed.error?.mayHaveBeenProcessed == true)
        let other = TestBed(otherwise: .fail(.connectRefused))
        other.loader.perform(.make { $0.maximumRetryCount = 1 })
        while other.passPause() {}
        #expect(other.error?.mayHaveBeenProcessed == false)
    }

    @Test func `a load that is ended from outside says yes once an attempt has begun`() async {
        let bed = TestBed(otherwise: .hold) { $0.limits.perOrigin = 1 }
        bed.loader.perform(.make("/running"))
        bed.settle()
        bed.loader.perform(.make("/waiting"))
        bed.settle()
        await bed.service.reset()
        let responses = bed.delegate.events.compactMap(\.response)
        #expect(responses.count == 2)
        for response in responses {
            let isRunning = response.request.url.path == "/running"
            #expect(response.error == .reset)
            #expect(response.error?.mayHaveBeenProcessed == isRunning)
        }
    }

    @Test func `retries that were spared are not called forbidden`() {
        let bed = TestBed(otherwise: .fail(.connectRefused))
        bed.loader.perform(.make { $0.maximumRetryCount = 5 })
        bed.settle()
        // The first load has failed to connect just now.
        bed.loader.perform(.make { $0.maximumRetryCount = 1 })
        while bed.passPause() {}
        let texts = bed.delegate.events.compactMap { $0.response?.error.map { "\($0)" } }
        #expect(texts.count == 2)
        #expect(!texts.contains { $0.contains("no retry was allowed") })
        #expect(texts.contains { $0.contains("1 of 1 retries spared") }, "\(texts)")
    }

    @Test func `an error names its request, load, phase, attempts, time and reason`() throws {
        let bed = TestBed(otherwise: .fail(.connectRefused))
        let url = testURL("http://origin.test/a?token=canary#canary")
        var request = DataLoaderRequest(url: url)
        request.retryPolicy = .constant(.seconds(1), maximumRetries: 2)
        let token = bed.loader.perform(request)
        while bed.passPause() {}
        let error = try #require(bed.error)
        #expect(
            "\(error)" == """
                GET http://origin.test/a?… failed: the connection was refused \
                (load \(token.loadNumber), connecting, 3 attempts in 2 s, \
                not tried again: all 2 retries were made)
                """)
        let context = try #require(error.context)
        #expect(context.load == token.loadNumber)
        #expect(context.method == "GET")
        #expect(context.url == "http://origin.test/a?…")
        #expect((context.attempts, context.retries) == (3, 2))
        #expect(context.time == .seconds(2))
    }

    private static let stops: [(String, ScriptedAnswer, DataLoaderError.StopReason?, Change)] = [
        ("no retry", .fail(.connectRefused), .retriesUsedUp, { _ in }),
        (
            "a deadline", .fail(.connectRefused), .deadlineTooNear,
            {
                $0.timeout = .seconds(1)
                $0.retryPolicy = .constant(.seconds(5), maximumRetries: 1)
            }
        ),
        (
            "a POST", .fail(.connectionReset, sent: .written), .notRepeatable,
            {
                $0.method = .post
                $0.maximumRetryCount = 3
            }
        ),
        (
            "a long pause", .respond(status: 503, headers: ["Retry-After": "3000"]),
            .retryAfterTooLong, { $0.maximumRetryCount = 3 }
        ),
        (
            "a policy", .fail(.connectRefused), .policy,
            { $0.retryPolicy = Never() }
        ),
        ("a 404", .respond(status: 404), .permanent, { $0.maximumRetryCount = 3 }),
        (
            "a 404 with a policy", .respond(status: 404), .permanent,
            { $0.retryPolicy = .immediately(maximumRetries: 3) }
        ),
        (
            "a 500", .respond(status: 500), .retriesUsedUp,
            { $0.retryPolicy = .immediately(maximumRetries: 3) }
        ),
        ("a wrong key", .fail(.pin), .permanent, { $0.maximumRetryCount = 3 }),
        (
            "a broken body",
            .run {
                $0.sendHead(status: 200)
                $0.send(Data("a part".utf8))
                $0.fail(.truncatedBody, sent: .headReceived)
            }, .alreadyDelivered,
            {
                $0.chunks = true
                $0.maximumRetryCount = 3
            }
        ),
        ("a bad request", .hold, nil, { $0.method = HTTPMethod(rawValue: "") }),
    ]

    private struct Never: RetryPolicy {
        func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? { nil }
    }

    @Test(arguments: stops.indices)
    func `an error says why the load was not tried again`(index: Int) {
        let (name, answer, reason, change) = Self.stops[index]
        let bed = TestBed(otherwise: answer)
        bed.loader.perform(.make("/", change))
        while bed.passPause() {}
        #expect(bed.error?.stopReason == reason, "\(name)")
    }

    @Test func `an error says that the retry budget was empty`() {
        let bed = TestBed(otherwise: .fail(.connectRefused)) { $0.retry.budget = 13 }
        bed.loader.perform(.make { $0.maximumRetryCount = 3 })
        bed.settle()
        #expect(bed.error?.stopReason == .budgetEmpty)
        #expect("\(bed.error.map { "\($0)" } ?? "")".contains("the retry budget"))
    }

    @Test func `an error that no retry was considered for has no reason`() {
        let bed = TestBed()
        bed.loader.perform(.make { $0.timeout = .seconds(1) })
        bed.advance(.seconds(1))
        #expect(bed.error?.stopReason == nil)
        #expect(bed.error?.phase != nil)
    }

    @Test(
        arguments: [
            (.dns, .nothingWritten, .resolving), (.connectTimeout, .nothingWritten, .connecting),
            (.tls, .nothingWritten, .securing), (.noResponse, .written, .waitingForHead),
            (.truncatedBody, .headReceived, .readingBody),
        ] as [(DataLoaderError, SentState, DataLoaderError.Phase)])
    func `a failed attempt says in which phase it failed`(
        error: DataLoaderError, sent: SentState, phase: DataLoaderError.Phase
    ) {
        let bed = TestBed(otherwise: .fail(error.kind, sent: sent))
        bed.loader.perform(.make())
        #expect(bed.error?.phase == phase)
    }

    @Test func `a body that was not sent whole fails in the phase of sending`() {
        for (bytes, phase) in [
            (9, DataLoaderError.Phase.sending), (10, .waitingForHead),
        ] as [(Int64, DataLoaderError.Phase)] {
            let bed = TestBed(
                otherwise: .run { attempt in
                    var report = TransportReport()
                    report.bodyBytesSent = bytes
                    attempt.setReport(report)
                    attempt.fail(.connectionReset, sent: .written)
                })
            bed.loader.perform(
                .make {
                    $0.method = .post
                    $0.body = .data(Data(count: 10))
                })
            #expect(bed.error?.phase == phase)
        }
    }

    @Test func `a load that is cancelled in the queue was waiting for a slot`() {
        let bed = TestBed { $0.limits.perOrigin = 1 }
        bed.loader.perform(.make("/first"))
        bed.loader.perform(.make("/second") { $0.timeout = .seconds(1) })
        bed.advance(.seconds(1))
        #expect(bed.error?.phase == .waitingForSlot)
    }

    @Test func `a load that reads a body at its deadline says so`() {
        let bed = TestBed(otherwise: .run { $0.sendHead(status: 200) })
        bed.loader.perform(.make { $0.timeout = .seconds(1) })
        bed.settle()
        bed.advance(.seconds(1))
        #expect(bed.error?.phase == .readingBody)
    }

    @Test func `a load has one number in its token, response, metrics and error`() async throws {
        let bed = TestBed(otherwise: .respond(status: 500))
        let first = bed.loader.perform(.make())
        let second = bed.loader.perform(.make())
        #expect(first.loadNumber > 0)
        #expect(second.loadNumber > first.loadNumber)
        let ends = await bed.delegate.outcomes(2).compactMap(\.response)
        let numbers = Set([first.loadNumber, second.loadNumber])
        #expect(Set(ends.map(\.metrics.load)) == numbers)
        #expect(Set(ends.compactMap { $0.error?.context?.load }) == numbers)
        let seen = await bed.observer.entries(2).map(\.response.metrics.load)
        #expect(Set(seen) == numbers)
    }

    @Test func `a call that was never started is named without a number`() async throws {
        let bed = TestBed()
        let call = bed.loader.request(testURL("http://origin.test/a?canary"))
        call.cancel()
        let error = await #expect(throws: DataLoaderError.self) { try await call.response() }
        #expect(
            error.map { "\($0)" }
                == "GET http://origin.test/a?… failed: the load was cancelled (no attempt in 0 ms)")
    }
}
