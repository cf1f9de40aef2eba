// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Testing

/// Who needs no connection of its own waits for its rate alone.
@Suite struct ExpressAdmissionTests {
    private final class Load: Waiting, Sendable {
        let isAdmitted = Locked(false)

        func admitted(turn: Int) { isAdmitted.withLock { $0 = true } }
        func mustAskAgain(turn: Int) {}
        func refused(turn: Int, _ error: DataLoaderError) {}
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
            limits: limits, limiter: limiter, agenda: Agenda(timekeeper: clock.timekeeper))
    }

    private func enter(
        _ admission: Admission, express: Bool
    ) -> (load: Load, answer: Admission.Answer) {
        let load = Load()
        let answer = admission.enter(
            Admission.Application(
                candidate: Admission.Candidate(waiting: load, turn: 1, deadline: nil),
                key: RuleKey(origin: origin, pathComponent: nil), origin: origin,
                loader: ObjectIdentifier(load), priority: .normal, needsNoConnection: express))
        if case .admitted = answer { load.isAdmitted.withLock { $0 = true } }
        return (load, answer)
    }

    @Test func `goes once its rate lets it, though every connection is taken`() {
        let admission = admission()
        defer { admission.close() }
        let endless = enter(admission, express: false).load
        #expect(endless.isAdmitted.withLock { $0 })
        let express = enter(admission, express: true).load
        #expect(!express.isAdmitted.withLock { $0 })
        clock.advance(by: .seconds(1))
        #expect(express.isAdmitted.withLock { $0 })
        admission.leave(origin)
        admission.leave(origin)
        #expect(admission.isIdle)
    }

    @Test func `goes before those that came before it and need a connection`() {
        let admission = admission()
        defer { admission.close() }
        _ = enter(admission, express: false)
        let waiting = (0..<3).map { _ in enter(admission, express: false).load }
        let express = enter(admission, express: true).load
        admission.leave(origin)
        clock.advance(by: .seconds(1))
        #expect(express.isAdmitted.withLock { $0 })
        #expect(waiting.allSatisfy { load in !load.isAdmitted.withLock { $0 } })
        for load in waiting {
            admission.leave(origin)
            clock.advance(by: .seconds(1))
            #expect(load.isAdmitted.withLock { $0 })
        }
        admission.leave(origin)
        #expect(admission.isIdle)
    }

    @Test func `is not refused because too many others wait, and can be withdrawn`() {
        let admission = admission(queue: 0)
        defer { admission.close() }
        _ = enter(admission, express: false)
        let (load, answer) = enter(admission, express: true)
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

    @Test func `goes when a rate of zero is raised`() {
        let admission = admission()
        defer { admission.close() }
        limiter.setRequestsPerSecond(0, for: testURL("https://a"))
        let express = enter(admission, express: true).load
        let other = enter(admission, express: false).load
        #expect(!express.isAdmitted.withLock { $0 })
        limiter.setRequestsPerSecond(nil, for: testURL("https://a"))
        #expect(express.isAdmitted.withLock { $0 })
        _ = other
    }
}
