// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What retries cost their origin's budget, through the whole stack.
@Suite struct RetryCostTests {
    private enum End: CaseIterable {
        case cancelled, reset, whileThePolicyIsAsked
    }

    // Its server was never asked again, so that others may be.
    @Test(arguments: End.allCases)
    private func `a retry that never begins costs nothing`(end: End) async {
        let bed = TestBed(otherwise: .respond(status: 500)) { $0.limits.perOrigin = 30 }
        for _ in 0..<30 {
            bed.loader.perform(
                .make {
                    $0.retryPolicy =
                        end == .whileThePolicyIsAsked
                        ? CancellingPolicy(loader: bed.loader)
                        : .constant(.seconds(30), maximumRetries: 1)
                })
        }
        bed.settle()
        // The first load that is asked about cancels those that have not been sent as well.
        #expect(bed.transport.attempts.count == 30 || end == .whileThePolicyIsAsked)
        #expect(bed.transport.attempts.count > 0)
        switch end {
        case .cancelled: bed.loader.cancelAllLoads()
        case .reset: await bed.factory.reset()
        case .whileThePolicyIsAsked: break
        }
        bed.settle()
        #expect(bed.service.runtime.budget.busyOrigins == 0)
        bed.expectNothingLeft()
    }

    @Test func `a retry that has begun is paid for, though its load is cancelled`() async {
        let bed = TestBed([.respond(status: 500)], otherwise: .hold)
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        _ = await bed.attempt(1)
        bed.loader.cancelAllLoads()
        bed.settle()
        #expect(bed.service.runtime.budget.busyOrigins == 1)
        bed.expectNothingLeft()
    }

    // A load's budget is its origin's, and a redirect is no failure of that.
    @Test(arguments: ["http://other.test/", "/elsewhere"])
    func `an origin that redirects gets its retries' costs back`(location: String) {
        let bed = TestBed()
        for _ in 0..<150 {
            let count = bed.transport.attempts.count
            bed.loader.perform(.make { $0.maximumRetryCount = 1 })
            bed.settle()
            bed.transport.attempts.last?.respond(status: 503)
            bed.passPause()
            #expect(bed.transport.attempts.count == count + 2)
            bed.transport.attempts.last?.respond(status: 307, headers: ["Location": location])
            bed.settle()
            bed.transport.attempts.last?.respond(status: 200)
            bed.settle()
        }
        #expect(bed.service.runtime.budget.busyOrigins == 0)
        bed.expectNothingLeft()
    }
}

/// Cancels the loads that it is asked about.
private struct CancellingPolicy: RetryPolicy {
    let loader: DataLoader

    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        loader.cancelAllLoads()
        return .seconds(1)
    }
}
