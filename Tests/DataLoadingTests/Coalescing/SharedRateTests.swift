// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads whose deadlines pass before the request that they share gets a slot of its rate.
@Suite struct SharedRateTests {
    private func shared(_ timeout: Duration) -> DataLoaderRequest {
        .make("/shared") {
            $0.coalescing = .sameRequest
            $0.timeout = timeout
        }
    }

    private func close(_ bed: TestBed, for delay: Duration) throws {
        try bed.service.rateLimiter.setRetryAfter(delay, for: testURL("http://origin.test/"))
    }

    private func error(_ bed: TestBed, of request: DataLoaderRequest) -> DataLoaderError? {
        bed.settle()
        return bed.delegate.events.first {
            $0.requestIdentifier == request.uniqueIdentifier
        }?.response?.error
    }

    @Test func `a load that joins a request behind a gate that opens too late ends at once`()
        async throws
    {
        let bed = TestBed(otherwise: .respond(status: 200))
        try close(bed, for: .seconds(30))
        let (patient, hasty) = (shared(.seconds(50)), shared(.seconds(5)))
        bed.loader.perform(patient)
        bed.settle()
        bed.loader.perform(hasty)
        let refusal = error(bed, of: hasty)
        #expect(refusal == .rateLimited(wait: .seconds(30)))
        #expect(refusal?.phase == .waitingForSlot)
        #expect(refusal?.mayHaveBeenProcessed == false)
        bed.advance(.seconds(30))
        #expect(bed.delegate.events.count == 2)
        #expect(error(bed, of: patient) == nil)
        bed.expectNothingLeft()
    }

    @Test func `a load that is the first to share a request ends at once too`() throws {
        let bed = TestBed()
        try close(bed, for: .seconds(30))
        bed.loader.perform(shared(.seconds(5)))
        #expect(bed.error == .rateLimited(wait: .seconds(30)))
        bed.expectNothingLeft()
    }

    @Test func `a gate that closes ends the loads of a waiting request that it makes late`()
        async throws
    {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        let before = await bed.attempt(0)
        let (hasty, patient) = (shared(.seconds(5)), shared(.seconds(50)))
        bed.loader.perform(hasty)
        bed.loader.perform(patient)
        bed.settle()
        #expect(bed.delegate.events.isEmpty)
        try close(bed, for: .seconds(30))
        #expect(error(bed, of: hasty) == .rateLimited(wait: .seconds(30)))
        before.respond(status: 200)
        bed.advance(.seconds(30))
        await bed.attempt(1).respond(status: 200)
        bed.settle()
        #expect(bed.delegate.events.count == 3)
        #expect(error(bed, of: patient) == nil)
        bed.expectNothingLeft()
    }

    @Test func `a load joins a request whose turn comes in time, though the queue ends too late`()
        async
    {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1)
        }
        for _ in 0..<5 { bed.loader.perform(.make("/before")) }
        bed.loader.perform(shared(.seconds(50)))
        for _ in 0..<5 { bed.loader.perform(.make("/after")) }
        bed.settle()
        // The request starts 5 seconds after the first one.
        let (early, late) = (shared(.milliseconds(5_001)), shared(.milliseconds(4_999)))
        bed.loader.perform(early)
        bed.loader.perform(late)
        #expect(error(bed, of: late) == .rateLimited(wait: .seconds(5)))
        bed.advance(.seconds(5))
        #expect(bed.delegate.events.contains { $0.requestIdentifier == early.uniqueIdentifier })
        #expect(error(bed, of: early) == nil)
        bed.advance(.seconds(10))
        bed.expectNothingLeft()
    }

    @Test func `a load joins a request that was sent before the gate closed`() async throws {
        let bed = TestBed()
        bed.loader.perform(shared(.seconds(50)))
        let attempt = await bed.attempt(0)
        try close(bed, for: .seconds(30))
        bed.loader.perform(shared(.seconds(5)))
        bed.settle()
        attempt.respond(status: 200)
        bed.settle()
        #expect(bed.delegate.events.count == 2)
        #expect(bed.delegate.events.allSatisfy { $0.response?.error == nil })
        bed.expectNothingLeft()
    }

    @Test func `a load that shares a request whose rate is paused ends at its deadline`() async {
        let bed = TestBed { $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 0) }
        let hasty = shared(.seconds(5))
        bed.loader.perform(shared(.seconds(50)))
        bed.loader.perform(hasty)
        bed.settle()
        #expect(bed.delegate.events.isEmpty)
        bed.advance(.seconds(5))
        #expect(
            error(bed, of: hasty) == .timedOut(after: .seconds(5), mayHaveBeenProcessed: false))
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `a load joins a request whose turn is next, however many loaders wait`() {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1)
        }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(shared(.seconds(50)))
        for number in 0..<20 {
            let other = bed.factory.makeDataLoader(
                delegate: bed.delegate, delegateQueue: nil, delivery: .ofTests)
            bed.hold(other)
            other.perform(.make("/other\(number)"))
        }
        let hasty = shared(.seconds(5))
        bed.loader.perform(hasty)
        bed.advance(.seconds(1))
        #expect(bed.starts.map(\.path) == ["/before", "/shared"])
        #expect(error(bed, of: hasty) == nil)
        bed.advance(.seconds(60))
        bed.expectNothingLeft()
    }

    @Test func `loads that join while their request enters the queue are judged too`() throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        try close(bed, for: .seconds(30))
        let rounds = 500
        for round in 0..<rounds {
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                bed.loader.perform(
                    .make("/\(round)") {
                        $0.coalescing = .sameRequest
                        $0.timeout = .seconds(5)
                    })
            }
        }
        bed.settle()
        let errors = bed.delegate.events.compactMap { $0.response?.error }
        #expect(errors.count == 2 * rounds)
        // Two requests for one path may be in the queue at the same time.
        #expect(errors.allSatisfy { if case .rateLimited = $0.kind { true } else { false } })
        bed.expectNothingLeft()
    }

    @Test(arguments: [Coalescing.none, .sameRequest])
    func `a Retry-After beyond the deadline of each load ends them with the status`(
        _ coalescing: Coalescing
    ) async {
        let bed = TestBed([.respond(status: 429, headers: ["Retry-After": "40"])]) {
            $0.retry.maximumRetryCount = 1
        }
        var request = shared(.seconds(5))
        request.coalescing = coalescing
        bed.loader.perform(request)
        bed.settle()
        let end = error(bed, of: request)
        #expect(end == .status(.tooManyRequests))
        #expect(end?.stopReason == .deadlineTooNear)
        bed.expectNothingLeft()
    }

    @Test func `a request is retried for the load that can wait`() async {
        let bed = TestBed(
            [.respond(status: 429, headers: ["Retry-After": "40"])],
            otherwise: .respond(status: 200)
        ) { $0.retry.maximumRetryCount = 1 }
        let (hasty, patient) = (shared(.seconds(5)), shared(.seconds(90)))
        bed.loader.perform(hasty)
        bed.loader.perform(patient)
        bed.settle()
        bed.advance(.seconds(80))
        #expect(error(bed, of: hasty) != nil)
        #expect(error(bed, of: patient) == nil)
        #expect(bed.delegate.events.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `a request that none of its loads can wait for takes no place in the queue`() {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
        }
        bed.loader.perform(.make("/first"))
        bed.loader.perform(.make("/before") { $0.timeout = .seconds(60) })
        let doomed = shared(.seconds(5))
        bed.loader.perform(doomed)
        let next = DataLoaderRequest.make("/next") { $0.timeout = .seconds(15) }
        bed.loader.perform(next)
        bed.service.rateLimiter.setRequestsPerSecond(
            0.1, forHostOf: testURL("http://origin.test"))
        #expect(error(bed, of: doomed) == .rateLimited(wait: .milliseconds(10_100)))
        bed.advance(.seconds(11))
        #expect(error(bed, of: next) == nil)
        #expect(bed.starts.map(\.path) == ["/first", "/before", "/next"])
        bed.expectNothingLeft()
    }

    @Test func `a load is judged anew when the request becomes less urgent`() {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1)
        }
        bed.loader.perform(.make("/before"))
        for _ in 0..<10 { bed.loader.perform(.make("/other") { $0.timeout = .seconds(90) }) }
        var urgent = shared(.seconds(90))
        urgent.priority = .high
        let token = bed.loader.perform(urgent)
        let hasty = shared(.seconds(5))
        bed.loader.perform(hasty)
        #expect(error(bed, of: hasty) == nil)
        token.cancel()
        #expect(error(bed, of: hasty) == .rateLimited(wait: .seconds(11)))
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }
}
