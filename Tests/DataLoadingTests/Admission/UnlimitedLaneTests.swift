// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

/// A load that needs no connection waits only for its rate.
@Suite struct UnlimitedLaneTests {
    private final class Load: Waiting, Sendable {
        let isAdmitted = Locked(false)

        func admitted(epoch: Int) { isAdmitted.withLock { $0 = true } }
        func mustAskAgain(epoch: Int) {}
        func refused(epoch: Int, _ error: DataLoaderError) {}
        var isShared: Bool { false }
        let deadlines = (earliest: Instant.distantFuture, latest: Instant.distantFuture)
        func waits(for wait: Duration?) {}
    }

    private let clock = ManualClock()
    private let limiter = RateLimiter(defaultRequestsPerSecond: 1)
    private let origin = Origin(isSecure: true, host: "a", port: 443)

    private func admission(queue: Int = 100) -> Admission {
        var limits = Limits()
        limits.perOrigin = 1
        limits.queue = queue
        limiter.adopt(clock.timekeeper)
        return Admission(
            limits: limits, limiter: limiter, timerQueue: TimerQueue(timekeeper: clock.timekeeper))
    }

    private func enter(
        _ admission: Admission, unlimited: Bool
    ) -> (load: Load, answer: Admission.Answer) {
        let load = Load()
        let answer = admission.enter(
            Admission.Application(
                candidate: Admission.Candidate(waiting: load, epoch: 1, deadline: nil),
                key: RuleKey(origin: origin, pathComponent: nil), origin: origin,
                loader: ObjectIdentifier(load), priority: .normal,
                bypassesConnectionLimit: unlimited))
        if case .admitted = answer { load.isAdmitted.withLock { $0 = true } }
        return (load, answer)
    }

    @Test
    func `a load that needs no connection starts at its rate though every connection is taken`() {
        let admission = admission()
        defer { admission.close() }
        let endless = enter(admission, unlimited: false).load
        #expect(endless.isAdmitted.withLock { $0 })
        let unlimited = enter(admission, unlimited: true).load
        #expect(!unlimited.isAdmitted.withLock { $0 })
        clock.advance(by: .seconds(1))
        #expect(unlimited.isAdmitted.withLock { $0 })
        admission.leave(origin)
        admission.leave(origin)
        #expect(admission.isIdle)
    }

    @Test func `a load that needs no connection overtakes the loads that need one`() {
        let admission = admission()
        defer { admission.close() }
        _ = enter(admission, unlimited: false)
        let waiting = (0..<3).map { _ in enter(admission, unlimited: false).load }
        let unlimited = enter(admission, unlimited: true).load
        admission.leave(origin)
        clock.advance(by: .seconds(1))
        #expect(unlimited.isAdmitted.withLock { $0 })
        #expect(waiting.allSatisfy { load in !load.isAdmitted.withLock { $0 } })
        for load in waiting {
            admission.leave(origin)
            clock.advance(by: .seconds(1))
            #expect(load.isAdmitted.withLock { $0 })
        }
        admission.leave(origin)
        #expect(admission.isIdle)
    }

    @Test func `a load that needs no connection ignores the queue limit and can be withdrawn`() {
        let admission = admission(queue: 0)
        defer { admission.close() }
        _ = enter(admission, unlimited: false)
        let (load, answer) = enter(admission, unlimited: true)
        guard case .queued(let ticket) = answer else {
            Issue.record("not queued")
            return
        }
        #expect(admission.withdraw(ticket))
        clock.advance(by: .seconds(1))
        #expect(!load.isAdmitted.withLock { $0 })
        admission.leave(origin)
        #expect(admission.isIdle)
    }

    @Test func `a load that needs no connection starts when a rate of zero is raised`() {
        let admission = admission()
        defer { admission.close() }
        limiter.setRequestsPerSecond(0, forHostOf: testURL("https://a"))
        let unlimited = enter(admission, unlimited: true).load
        let other = enter(admission, unlimited: false).load
        #expect(!unlimited.isAdmitted.withLock { $0 })
        limiter.setRequestsPerSecond(nil, forHostOf: testURL("https://a"))
        #expect(unlimited.isAdmitted.withLock { $0 })
        _ = other
    }
}
