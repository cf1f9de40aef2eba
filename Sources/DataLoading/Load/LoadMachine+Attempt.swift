// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Handles the events of an attempt, and its end.
extension LoadMachine {
    /// The running attempt, if the event is one of its events.
    func attempt(_ context: AttemptContext) -> Attempt? {
        guard case .running(let attempt) = state, attempt.context === context else { return nil }
        return attempt
    }

    /// Changes the attempt of an event without copying the bytes that it keeps; nil when the
    /// attempt is over.
    mutating func inAttempt<Result>(
        _ context: AttemptContext, _ change: (inout Attempt, inout LoadFacts) -> Result
    ) -> Result? {
        guard case .running(var attempt) = state, attempt.context === context else { return nil }
        state = .created
        defer { state = .running(attempt) }
        return change(&attempt, &facts)
    }

    mutating func received(_ head: ResponseHead, _ context: AttemptContext) -> LoadActionList {
        facts.mayHaveBeenProcessed = true
        return inAttempt(context) { $0.received(head, &$1) } ?? []
    }

    mutating func judged(_ verdict: Verdict, _ context: AttemptContext) -> LoadActionList {
        inAttempt(context) { $0.judged(verdict, &$1) } ?? refund(verdict.cost)
    }

    /// Takes one event that was held back, and asks for the next one.
    ///
    /// Events that arrive meanwhile come after it.
    mutating func takeHeld(_ context: AttemptContext, _ now: Instant) -> LoadActionList {
        let taken = inAttempt(context) { attempt, _ in
            let wasPaused = attempt.isHeldBack
            return (attempt.takeHeld(), wasPaused)
        }
        switch taken {
        case (.bytes(let bytes), _)?:
            let actions = inAttempt(context) { $0.received(bytes, &$1, wereHeld: true) } ?? []
            return actions + [.takeHeld(context)]
        case (.end(let failure), _)?:
            var actions: LoadActionList = []
            if let attempt = attempt(context) {
                conclude(attempt, failure, slots: nil, &actions, now)
            }
            return actions
        case (nil, true)?:
            return [.resumeAttempt(context)]
        case (nil, false)?, nil:
            return []
        }
    }

    /// Whether the transfer is paused until the verdict on the response.
    func isHeldBack(_ context: AttemptContext) -> Bool {
        attempt(context)?.isHeldBack == true
    }

    func windowHasOpened() -> LoadActionList {
        guard case .running(let attempt) = state, !attempt.isHeldBack else { return [] }
        return [.resumeAttempt(attempt.context)]
    }

    mutating func ended(
        _ context: AttemptContext, _ report: TransportReport, _ failure: TransportFailure?,
        _ now: Instant
    ) -> LoadActionList {
        openAttempts -= 1
        var report = report
        if hasCountedConnecting { report.connectTime = nil }
        facts.metrics.add(report)
        if let failure, failure.sent != .nothingWritten { facts.mayHaveBeenProcessed = true }
        let attempt = attempt(context)
        // Room for the actions of a success.
        var actions: LoadActionList = []
        actions.reserveCapacity(6)
        if traits.reportsProgress { actions.append(.flushProgress) }
        let outcome = facts.addressOutcome(
            of: context, attempt?.head, failure, hasTimedOut: hasTimedOut, at: now)
        actions.append(.noteAddress(context, outcome))
        guard let attempt else {
            actions.append(.leave(context.origin))
            return actions + reportIfOver()
        }
        if inAttempt(context, { attempt, _ in attempt.holdBack(failure) }) == true {
            // The verdict is not there yet; the slots are not kept until then.
            actions.append(.leave(context.origin))
        } else {
            conclude(attempt, failure, slots: context.origin, &actions, now)
        }
        return actions
    }

    var hasTimedOut: Bool {
        switch state {
        case .timingOut: true
        case .ended(let ending): ending.isTimeout
        default: false
        }
    }

    /// Concludes an attempt; its slots are kept while another address may still be tried.
    mutating func conclude(
        _ attempt: Attempt, _ failure: TransportFailure?, slots: Origin?,
        _ actions: inout LoadActionList, _ now: Instant
    ) {
        enter(.deciding(slots: nil))
        switch facts.conclude(attempt, failure) {
        case .next(let next):
            if let slots { actions.append(.leave(slots)) }
            actions += proceed(to: next, now)
        case .success:
            actions.append(facts.takeSuccess(of: attempt.context.origin))
            if let slots { actions.append(.leave(slots)) }
            complete(nil, &actions, now)
        case .failure(let failure):
            facts.note(failure, at: attempt.context.candidate)
            state = .deciding(slots: slots)
            actions.append(
                .judgeFailure(failure, facts, holdsSlot: slots != nil, epoch: epoch))
        }
    }

    func leave(_ slots: Origin?) -> LoadActionList {
        slots.map { [.leave($0)] } ?? []
    }

    func refund(_ cost: RetryCost?) -> LoadActionList {
        guard let cost, let origin = facts.target?.origin else { return [] }
        return [.refund(cost, origin)]
    }
}
