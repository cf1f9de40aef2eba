// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Every load ends at its deadline to the millisecond, at any stage.
@Suite struct DeadlineTests {
    // A pause beyond the deadline is never begun, and a decided load has no deadline.
    @Test(arguments: Stage.allCases.filter { $0 != .decided && $0 != .backingOff })
    func `a load ends at its deadline and not a millisecond earlier`(stage: Stage) async {
        let load = await StagedLoad(stage, timeout: .seconds(9))
        let attempt = load.attempt
        load.bed.advance(ms(8_999))
        #expect(load.outcomes.isEmpty)
        load.bed.advance(ms(1))
        load.settle(releasing: true)
        let error = load.outcomes.first?.response?.error
        guard case .timedOut(after: .seconds(9), let mayHaveBeenProcessed)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(load.outcomes.count == 1)
        #expect(mayHaveBeenProcessed == stage.hasAttempt)
        if let attempt { #expect(attempt.isCancelled) }
        #expect(load.reports.count == 1)
        load.endBlocker()
        #expect(load.weakLoad == nil)
        load.bed.expectNothingLeft()
    }

    @Test func `a deadline does not change an outcome that was decided before it`() async {
        let load = await StagedLoad(.decided, timeout: .seconds(9))
        load.bed.clock.advance(by: .seconds(100))
        load.settle(releasing: true)
        guard case .success? = load.outcomes.first else {
            Issue.record("\(load.outcomes)")
            return
        }
    }

    @Test func `the deadline is sixty seconds by default, and there is none for chunks`() async {
        let bed = TestBed()
        bed.loader.perform(.make("/whole"))
        bed.loader.perform(.make("/chunks") { $0.chunks = true })
        bed.settle()
        bed.advance(ms(59_999))
        #expect(bed.delegate.events.isEmpty)
        bed.advance(ms(1))
        let errors = bed.delegate.events.map { $0.response?.error }
        #expect(errors == [.timedOut(after: .seconds(60), mayHaveBeenProcessed: true)])
        bed.advance(.seconds(100_000))
        #expect(bed.delegate.events.count == 1)
    }

    @Test func `a deadline that is set applies to a load in chunks`() async {
        let bed = TestBed()
        bed.loader.perform(
            .make { request in
                request.chunks = true
                request.timeout = .seconds(3)
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(10))
        bed.advance(.seconds(3))
        #expect(bed.error == .timedOut(after: .seconds(3), mayHaveBeenProcessed: true))
        #expect(bed.delegate.body == patternBytes(10))
        #expect(attempt.isCancelled)
    }

    @Test func `a load has no deadline when its service has none`() {
        let bed = TestBed { $0.timeouts.total = nil }
        bed.loader.perform(.make())
        #expect(bed.service.runtime.timerQueue.count == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func `a deadline that has passed ends the load at once`(timeout: Duration) {
        let bed = TestBed()
        bed.loader.perform(.make { $0.timeout = timeout })
        bed.advance(.nanoseconds(1))
        guard case .timedOut? = bed.error?.kind else {
            Issue.record("\(String(describing: bed.error))")
            return
        }
        bed.expectNothingLeft()
    }

    @Test func `a deadline includes waiting, authorisation, pauses and redirects`() async {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(authorisers: [authoriser]) { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 0.5)
        }
        bed.loader.perform(
            .make { request in
                request.timeout = .seconds(12)
                request.retryPolicy = .constant(.seconds(3), maximumRetries: 9)
            })
        _ = await authoriser.held(1)
        bed.advance(.seconds(2))
        authoriser.grant(0)
        await bed.attempt(0).respond(status: 302, headers: ["Location": "/b"])
        _ = await authoriser.held(2)
        authoriser.grant(1)
        bed.settle()
        bed.advance(.seconds(2))
        await bed.attempt(1).respond(status: 503)
        bed.settle()
        bed.advance(.seconds(3))
        _ = await authoriser.held(3)
        bed.advance(ms(4_999))
        #expect(bed.delegate.events.isEmpty)
        bed.advance(ms(1))
        #expect(bed.error == .timedOut(after: .seconds(12), mayHaveBeenProcessed: true))
        let metrics = bed.ended?.response?.metrics
        #expect(metrics?.totalTime == .seconds(12))
        #expect(metrics?.admissionTime == .seconds(2))
        #expect(metrics?.backOffTime == .seconds(3))
        #expect(metrics?.attempts == 2)
        #expect(metrics?.redirects == 1)
        bed.expectNothingLeft()
    }

    @Test func `the transport gets the connect and idle timeouts of the service`() async {
        let bed = TestBed { configuration in
            configuration.timeouts.connect = ms(123)
            configuration.timeouts.idle = ms(456)
        }
        bed.loader.perform(.make())
        let request = await bed.attempt(0).request
        #expect(request.connectTimeout == ms(123))
        #expect(request.idleTimeout == ms(456))
    }
}
