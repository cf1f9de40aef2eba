// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Ends a load.
extension LoadMachine {
    /// Ends the load with its own outcome.
    mutating func complete(_ error: DataLoaderError?, _ now: Instant) -> LoadActionList {
        var actions: LoadActionList = []
        complete(error, &actions, now)
        return actions
    }

    mutating func complete(
        _ error: DataLoaderError?, _ actions: inout LoadActionList, _ now: Instant
    ) {
        guard !isEnding else { return }
        end(error, &actions, now)
        if error == .cancelled { actions.append(.markCancelled) }
        actions.append(.announceOutcome)
    }

    /// Ends the load, and cancels what it was waiting for.
    private mutating func end(
        _ error: DataLoaderError?, _ actions: inout LoadActionList, _ now: Instant
    ) {
        let stage = state
        enter(.ended(LoadEnding(error?.occurring(phase(of: stage, error)))))
        facts.metrics.totalTime = now - traits.begun
        if let deadline = deadline.take() { actions.append(.cancelTimer(deadline)) }
        let time = now - stageBegan
        switch stage {
        case .authorising(let task, let slots):
            facts.metrics.authorisationTime += time
            if let task { actions.append(.cancelTask(task)) }
            actions += leave(slots)
        case .applying:
            facts.metrics.admissionTime += time
        case .queued(let ticket):
            facts.metrics.admissionTime += time
            actions.append(.withdraw(ticket))
        case .resting:
            facts.metrics.backOffTime += time
        case .pausing(let timer):
            facts.metrics.backOffTime += time
            actions.append(.cancelTimer(timer))
        case .running(let attempt):
            actions += refund(attempt.verdict?.cost)
            actions.append(.withdrawAttempt(attempt.context))
        case .askingForBody(let next, _):
            actions += refund(next.cost)
        case .deciding(let slots):
            actions += leave(slots)
        case .created, .askingForChunks, .dialling, .timingOut, .ended:
            // A load that is dialling gives its slots back when its attempt comes too late.
            break
        }
        if let (cost, origin) = facts.takeUnbegunRetry() { actions.append(.refund(cost, origin)) }
    }

    mutating func endFromOutside(_ error: DataLoaderError, _ now: Instant) -> LoadActionList {
        var actions: LoadActionList = [.drop]
        guard case .ended(var ending) = state else {
            complete(error, &actions, now)
            return actions
        }
        // The owner was told that there is an outcome; it takes the outcome as it is at that time.
        guard ending.isUntaken else { return [] }
        if ending.replace(by: error) {
            state = .ended(ending)
            if error == .cancelled { actions.append(.markCancelled) }
        }
        return actions
    }

    mutating func sinkFailed(_ error: DataLoaderError, _ now: Instant) -> LoadActionList {
        let error = error.occurring(.readingBody)
        guard case .ended(var ending) = state else { return complete(error, now) }
        if ending.isSuccess, ending.replace(by: error) { state = .ended(ending) }
        return []
    }

    mutating func deadlineHasPassed(_ now: Instant) -> LoadActionList {
        deadline = nil
        // Only a cancelled attempt can say whether any of it was sent.
        guard case .running(let attempt) = state else { return timeOut(now, mayHaveSent: false) }
        enter(.timingOut(attempt.head == nil ? nil : .readingBody))
        return refund(attempt.verdict?.cost) + [.withdrawAttempt(attempt.context)]
    }

    mutating func timeOut(_ now: Instant, mayHaveSent: Bool) -> LoadActionList {
        let limit = traits.deadline.map { $0 - traits.begun } ?? now - traits.begun
        let isProcessed = facts.mayHaveBeenProcessed || mayHaveSent
        let error = DataLoaderError.timedOut(after: limit, mayHaveBeenProcessed: isProcessed)
        guard case .timingOut(let phase) = state else { return complete(error, now) }
        return complete(error.occurring(phase ?? facts.phase(mayHaveSent: mayHaveSent)), now)
    }

    mutating func withdrawn(
        _ context: AttemptContext, _ mayHaveSent: Bool, _ now: Instant
    ) -> LoadActionList {
        if !mayHaveSent, openAttempts > 0 {
            // Otherwise the transport has reported that time already.
            facts.metrics.connectTime += now - stageBegan
            hasCountedConnecting = true
        }
        guard case .timingOut = state else { return [] }
        return timeOut(now, mayHaveSent: mayHaveSent)
    }

    /// Takes the outcome, to hand it over now; nil when it was taken or there is none.
    mutating func take() -> DataLoaderResponse? {
        guard case .ended(var ending) = state, ending.take() else { return nil }
        state = .ended(ending)
        guard ending.error != nil else { return facts.response(nil) }
        var response = facts.response(ending.error)
        response.error?.keepBody(facts.body)
        return response
    }

    mutating func handedOver(_ retryAfter: Date?) -> LoadActionList {
        guard case .ended(var ending) = state else { return [] }
        ending.handedOver(retryAfter)
        state = .ended(ending)
        return reportIfOver()
    }

    /// Reports to the observers once the outcome is handed over and no attempt is open any more.
    mutating func reportIfOver() -> LoadActionList {
        guard case .ended(var ending) = state, openAttempts == 0, ending.report() else { return [] }
        state = .ended(ending)
        return [.report]
    }

    /// The response that observers see; nil before the load is over.
    ///
    /// It is made anew, because the byte counts of a cancelled attempt are complete only then.
    var report: DataLoaderResponse? {
        guard case .ended(let ending) = state, ending.isReported else { return nil }
        var response = facts.response(ending.error)
        response.retryAfter = ending.retryAfter
        return response
    }

    /// Whether the load has its outcome, taken or not.
    var isEnding: Bool {
        if case .ended = state { true } else { false }
    }

    /// Whether the load has ended with a success that was not taken.
    var isSuccess: Bool {
        if case .ended(let ending) = state { ending.isSuccess } else { false }
    }

    /// Whether the load is delivered in chunks, and neither a deadline nor its head limits it.
    var hasOpenEnd: Bool {
        guard traits.delivery == .chunks, traits.deadline == nil, facts.hasDelivered else {
            return false
        }
        return facts.head.map { facts.hasOpenEnd($0) } ?? false
    }

    /// Whether the load waits for slots.
    var isApplying: Bool {
        switch state {
        case .applying, .queued: true
        default: false
        }
    }

    /// The values that hold users' objects: the authorised request, its authorisers and the error.
    var ofUsers: (DataLoaderRequest, AuthoriserChain?, DataLoaderError?) {
        var error: DataLoaderError?
        if case .ended(let ending) = state { error = ending.error }
        return (facts.outgoing, facts.chain, error)
    }

    /// The origin of the present attempt.
    var origin: Origin? { facts.target?.origin }

    /// The request of the next attempt; nil when its epoch has passed.
    func sending(epoch: Int) -> Sending? {
        isApplying(epoch) ? sending : nil
    }

    /// The data of the load; nil when the epoch has passed.
    func facts(epoch: Int) -> LoadFacts? {
        epoch == self.epoch ? facts : nil
    }

    /// The data of the load; nil when the attempt is over.
    func facts(of context: AttemptContext) -> LoadFacts? {
        attempt(context) == nil ? nil : facts
    }
}
