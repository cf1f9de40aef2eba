// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Retries, 429, 503 and Retry-After through the whole stack.
@Suite struct RetryTests {
    @Test func `a load is not retried unless its request or service asks for it`() {
        for maximum in [nil, 0] {
            let bed = TestBed([.respond(status: 503)], otherwise: .respond(status: 200))
            bed.loader.perform(.make { $0.maximumRetryCount = maximum })
            #expect(bed.error == .status(.serviceUnavailable))
            #expect(bed.transport.attempts.count == 1)
        }
    }

    @Test func `a load is retried as often as its request or its service says`() {
        for (service, request, expected) in [(2, nil, 2), (2, 0, 0), (0, 3, 3)]
            as [(Int, Int?, Int)]
        {
            let bed = TestBed(otherwise: .respond(status: 500)) {
                $0.retry.maximumRetryCount = service
            }
            bed.loader.perform(.make { $0.maximumRetryCount = request })
            while bed.passPause() {}
            #expect(bed.transport.attempts.count == expected + 1)
            // The result of the last attempt is the outcome of the load.
            #expect(bed.error == .status(.internalServerError))
            #expect(bed.ended?.response?.metrics.retries == expected)
        }
    }

    // Nil stops, zero retries at once, a negative pause counts as zero.
    @Test func `a retry pauses as its policy says`() {
        for (pauses, starts) in [
            ([], [0]), ([ms(0), ms(-5)], [0, 0, 0]), ([ms(100), ms(250)], [0, 100, 350]),
        ] as [([Duration], [Int64])] {
            let bed = TestBed(otherwise: .fail(.dns))
            bed.loader.perform(.make { $0.retryPolicy = ListedPauses(pauses) })
            while bed.passPause() {}
            #expect(bed.starts.map(\.at) == starts.map { ms($0) })
            #expect(bed.error == .dns)
        }
    }

    // A policy sees error statuses like any other result.
    @Test func `a retry policy sees status and headers of every response`() {
        let transient: Set = [408, 425, 429, 500, 502, 503, 504]
        for status in Array(200...599) + [600, 999] where !(300..<400).contains(status) {
            let policy = SeeingPolicy()
            var headers: HTTPHeaders = ["Retry-After": "7", "X": "y"]
            headers.add("z", for: "x")
            let bed = TestBed([.respond(status: status, headers: headers)], otherwise: .hold)
            bed.loader.perform(.make { $0.retryPolicy = policy })
            bed.settle()
            let seen = policy.seen.elements
            #expect(seen.map(\.status?.rawValue) == [status])
            #expect(seen.first?.headers.fields == headers.fields)
            #expect(seen.first?.error == nil)
            #expect(seen.first?.retryAfter == .seconds(7))
            #expect(seen.first?.isTransient == transient.contains(status), "\(status)")
            bed.passPause()
            #expect(bed.transport.attempts.count == 2)
        }
    }

    @Test func `a retry policy sees the request of the attempt, without credentials`() async throws
    {
        let policy = SeeingPolicy()
        let bed = TestBed(
            [.respond(status: 307, headers: ["Location": "/b"]), .respond(status: 503)],
            authorisers: [TestAuthoriser()])
        bed.loader.perform(
            .make("/a") {
                $0.method = .put
                $0.headers["X-Own"] = "1"
                $0.retryPolicy = policy
            })
        bed.settle()
        let request = try #require(policy.seen.elements.first).request
        #expect(request.url.path == "/b")
        #expect(request.method == .put)
        #expect(request.headers["X-Own"] == "1")
        #expect(bed.transport.attempts.last?.request.headers.contains("Authorization") == true)
        #expect(!request.headers.contains("Authorization"))
    }

    @Test func `a retry policy that keeps what it sees does not keep itself`() {
        weak var kept: EventRecorder<AttemptOutcome>?
        do {
            let policy = SeeingPolicy()
            kept = policy.seen
            let bed = TestBed(otherwise: .fail(.dns))
            bed.loader.perform(.make { $0.retryPolicy = policy })
            bed.expectNothingLeft()
            #expect(policy.seen.elements.count == 2)
        }
        #expect(kept == nil)
    }

    @Test(arguments: [
        (DataLoaderError.dns, SentState.nothingWritten), (.connectRefused, .nothingWritten),
        (.idleTimeout, .written), (.connectionReset, .written), (.noResponse, .written),
        (.truncatedBody, .headReceived),
    ])
    func `a retry policy sees the error of an attempt without a whole response`(
        error: DataLoaderError, sent: SentState
    ) {
        let policy = SeeingPolicy()
        let bed = TestBed([.fail(error.kind, sent: sent)], otherwise: .hold)
        bed.loader.perform(.make { $0.retryPolicy = policy })
        bed.settle()
        let seen = policy.seen.elements
        #expect(seen.map(\.error) == [error])
        #expect(seen.first?.status == nil)
        #expect(seen.first?.headers.fields.isEmpty == true)
        #expect(seen.first?.retryAfter == nil)
        #expect(seen.first?.isTransient == true)
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `a retry policy is told the number of the attempt, starting at one`() {
        let policy = SeeingPolicy(most: 3)
        let bed = TestBed(otherwise: .fail(.dns))
        bed.loader.perform(.make { $0.retryPolicy = policy })
        bed.settle()
        #expect(policy.attempts.elements == [1, 2, 3, 4])
        #expect(policy.seen.elements.allSatisfy { $0.error == .dns })
        #expect(bed.transport.attempts.count == 4)
    }

    @Test func `a retry policy may ask again after a success`() {
        let bed = TestBed(
            [.respond(status: 202), .respond(status: 202), .respond(status: 200)])
        bed.loader.perform(.make { $0.retryPolicy = PollingPolicy() })
        while bed.passPause() {}
        #expect(bed.starts.map(\.at) == [0, 1_000, 2_000].map { ms($0) })
        #expect(bed.ended?.response?.statusCode == .ok)
    }

    // Retry-After is the minimum of the pause.
    @Test(arguments: ["2", " 2 ", "Thu, 01 Jan 2026 00:00:02 GMT"])
    func `a retry waits as long as Retry-After says and one second more at most`(value: String) {
        let bed = TestBed(
            [.respond(status: 503, headers: ["Retry-After": value])],
            otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.maximumRetryCount = 1 })
        while bed.passPause() {}
        let second = bed.starts.last?.at ?? .zero
        #expect(bed.starts.count == 2)
        #expect(second >= .seconds(2))
        #expect(second <= .seconds(3))
        #expect(bed.error == nil)
    }

    // A Retry-After in the past or unreadable.
    @Test(arguments: ["-1", "soon", "1.5", "", "Thu, 01 Jan 2015 00:00:00 GMT", "0"])
    func `a Retry-After that cannot be read counts as none`(value: String) {
        let bed = TestBed(
            [.respond(status: 503, headers: ["Retry-After": value])],
            otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.maximumRetryCount = 1 })
        while bed.passPause() {}
        #expect(bed.starts.count == 2)
        #expect((bed.starts.last?.at ?? .zero) <= .seconds(1))
    }

    // A Retry-After that is huge or later than the deadline.
    @Test(arguments: ["61", "3600", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `a load fails at once with the date when Retry-After is more than a minute`(
        value: String
    ) {
        let bed = TestBed([.respond(status: 503, headers: ["Retry-After": value])])
        bed.loader.perform(.make { $0.maximumRetryCount = 1 })
        #expect(bed.error == .status(.serviceUnavailable))
        #expect(bed.ended?.response?.retryAfter ?? .distantPast > bed.clock.date)
        #expect(bed.clock.elapsed == .zero)
    }

    @Test func `a load fails at once when its pause would outlast its deadline`() {
        let bed = TestBed(
            [.respond(status: 429, headers: ["Retry-After": "5"])],
            otherwise: .respond(status: 200))
        bed.loader.perform(
            .make { request in
                request.maximumRetryCount = 1
                request.timeout = .seconds(5)
            })
        #expect(bed.error == .status(.tooManyRequests))
        #expect(bed.ended?.response?.retryAfter == bed.clock.date.addingTimeInterval(5))
    }

    @Test func `a retry waits until the time in X-Rate-Limit-Reset`() {
        let bed = TestBed(
            [.respond(status: 429, headers: ["x-rate-limit-reset": "1767225610"])],
            otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.retryPolicy = .rateLimitHeader(maximumRetries: 1) })
        while bed.passPause() {}
        #expect(bed.starts.map(\.at) == [.zero, .seconds(10)])
    }

    @Test func `no load pauses longer than the cap or its deadline, however often it fails`() {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let bed = TestBed(otherwise: .fail(.dns)) { $0.retry.budget = nil }
            let timeout = Duration.seconds(Int.random(in: 1...300, using: &generator))
            bed.loader.perform(
                .make { request in
                    request.maximumRetryCount = 1_000
                    request.timeout = timeout
                })
            while bed.passPause(within: timeout) {}
            let starts = bed.starts.map(\.at)
            for (earlier, later) in zip(starts, starts.dropFirst()) {
                #expect(later - earlier <= .seconds(20), "seed \(seed)")
            }
            #expect(starts.last ?? .zero < timeout)
            #expect(bed.error != nil)
            bed.expectNothingLeft()
        }
    }

    @Test func `no retry follows an attempt that was cancelled`() {
        let bed = TestBed([.fail(.cancelled, sent: .written)], otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 3) })
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a retry after a silent connection asks for a fresh connection`() {
        let bed = TestBed(
            [.fail(.idleTimeout, sent: .written)], otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        bed.settle()
        #expect(bed.transport.attempts.map(\.request.needsFreshConnection) == [false, true])
    }
}

/// A policy with a list of pauses.
private struct ListedPauses: RetryPolicy {
    let pauses: [Duration]

    init(_ pauses: [Duration]) { self.pauses = pauses }

    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        n <= pauses.count ? pauses[n - 1] : nil
    }
}

/// A policy that records outcomes and retries at once.
private struct SeeingPolicy: RetryPolicy {
    let seen = EventRecorder<AttemptOutcome>()
    let attempts = EventRecorder<Int>()
    var most = 1

    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        seen.record(outcome)
        attempts.record(n)
        return n <= most ? .zero : nil
    }
}

/// A policy that asks again every second until a job is done.
private struct PollingPolicy: RetryPolicy {
    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        outcome.status?.rawValue == 202 ? .seconds(1) : nil
    }
}
