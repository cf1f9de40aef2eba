// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a load says at its deadline about the request that it shares.
@Suite struct SharedDeadlineTests {
    private func shared(_ timeout: Duration) -> DataLoaderRequest {
        .make("/shared") {
            $0.coalescing = .sameRequest
            $0.timeout = timeout
        }
    }

    private func late(mayHaveBeenProcessed: Bool) -> DataLoaderError {
        .timedOut(after: .seconds(5), mayHaveBeenProcessed: mayHaveBeenProcessed)
    }

    @Test func `the last load that leaves a sent request says that it may have been processed`()
        async
    {
        let bed = TestBed()
        bed.loader.perform(shared(.seconds(5)))
        let attempt = await bed.attempt(0)
        bed.settle()
        bed.advance(.seconds(5))
        #expect(bed.error == late(mayHaveBeenProcessed: true))
        #expect(bed.error?.phase == nil)
        #expect(attempt.isCancelled)
        bed.expectNothingLeft()
    }

    @Test func `a load that leaves a request in the queue was waiting for a slot`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        _ = await bed.attempt(0)
        bed.loader.perform(shared(.seconds(5)))
        bed.loader.perform(shared(.seconds(50)))
        bed.settle()
        bed.advance(.seconds(5))
        let error = await bed.delegate.outcomes(1)[0].response?.error
        #expect(error == late(mayHaveBeenProcessed: false))
        #expect(error?.phase == .waitingForSlot)
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `a request of which nothing was written was not processed`() async {
        let bed = TestBed([.fail(.connectRefused)]) {
            $0.retry.maximumRetryCount = 1
            $0.retry.timer = ExponentialTimer(
                initialTime: .seconds(30), maxTime: .seconds(30), jitter: .none)
        }
        bed.loader.perform(shared(.seconds(50)))
        bed.loader.perform(shared(.seconds(5)))
        _ = await bed.attempt(0)
        bed.settle()
        bed.advance(.seconds(5))
        #expect(bed.error == late(mayHaveBeenProcessed: false))
        #expect(bed.transport.attempts.count == 1)
        bed.loader.cancelAllLoads()
        bed.expectNothingLeft()
    }

    @Test func `an intercepted load knows of the request that the load inside shares`() async {
        let bed = TestBed(interceptors: [PassOn()])
        bed.loader.perform(shared(.seconds(5)))
        _ = await bed.attempt(0)
        bed.settle()
        bed.advance(.seconds(5))
        #expect(bed.error == late(mayHaveBeenProcessed: true))
        bed.expectNothingLeft()
    }

    @Test func `an intercepted load knows of the request that the load inside has shared`() async {
        let (answered, release) = (EventRecorder<Void>(), EventRecorder<Void>())
        let bed = TestBed(
            otherwise: .respond(status: 200),
            interceptors: [
                Intercept { request, next in
                    let response = try await next(request)
                    answered.record(())
                    _ = await release.first(1)
                    return response
                }
            ])
        bed.loader.perform(shared(.seconds(5)))
        _ = await answered.first(1)
        bed.advance(.seconds(5))
        #expect(bed.error == late(mayHaveBeenProcessed: true))
        bed.expectNothingLeft()
        release.record(())
    }
}
