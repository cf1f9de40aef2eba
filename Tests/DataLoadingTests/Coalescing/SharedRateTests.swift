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
}
