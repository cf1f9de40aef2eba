// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Handles the events from `perform` to the slots of an attempt.
extension LoadMachine {
    mutating func enter(_ state: State) {
        self.state = state
        epoch += 1
    }

    mutating func begin(
        _ target: Result<RequestTarget, RequestFault>, _ refusal: DataLoaderError?,
        _ timer: TimerQueue.Entry?, _ now: Instant
    ) -> LoadActionList {
        guard case .created = state else { return timer.map { [.cancelTimer($0)] } ?? [] }
        deadline = timer
        if let refusal { return complete(refusal, now) }
        switch target {
        case .success(let target): facts.baseTarget = target
        case .failure(let fault): return complete(.invalidRequest(fault), now)
        }
        guard traits.request.chunks else { return authorise(now) }
        enter(.askingForChunks)
        return [.askForChunkSupport(epoch: epoch)]
    }

    mutating func chunkSupport(
        _ isThere: Bool, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .askingForChunks = state else { return [] }
        return isThere ? authorise(now) : complete(.chunksNotSupported, now)
    }

    mutating func authorise(_ now: Instant) -> LoadActionList {
        facts.beginAttempt()
        return askAuthorisers(slots: nil, now)
    }

    mutating func askAuthorisers(slots: Origin?, _ now: Instant) -> LoadActionList {
        guard traits.isAuthorised else { return apply(now) }
        stageBegan = now
        enter(.authorising(nil, slots: slots))
        return [.authorise(epoch: epoch)]
    }

    mutating func answersLater(_ task: Task<Void, Never>, _ epoch: Int) -> LoadActionList {
        guard isAuthorising(epoch), case .authorising(_, let slots) = state else {
            return [.cancelTask(task)]
        }
        state = .authorising(task, slots: nil)
        return leave(slots)
    }

    /// The request that authorisers are asked about, and the credentials that were refused; nil
    /// when the epoch has passed.
    func asking(_ epoch: Int) -> (DataLoaderRequest, refused: AuthoriserChain.Stamps)? {
        isAuthorising(epoch) ? (facts.outgoing, facts.refusedStamps) : nil
    }

    /// Whether authorisers are asked in an epoch.
    func isAuthorising(_ epoch: Int) -> Bool {
        guard epoch == self.epoch, case .authorising = state else { return false }
        return true
    }

    mutating func authorised(
        _ chain: AuthoriserChain, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .authorising(_, let slots) = state else { return [] }
        facts.metrics.authorisationTime += now - stageBegan
        stageBegan = now
        do {
            try facts.authorised(by: chain, at: now)
        } catch {
            return complete(.invalidRequest(error), now)
        }
        // A load that was in the queue before does not lose its place by a change of rates.
        guard let slots else { return apply(now, hasWaited: facts.wasAskedAgain) }
        guard slots == facts.target?.origin else {
            return [.leave(slots)] + apply(now, hasWaited: true)
        }
        enter(.dialling(slots))
        return sending.map { [.dial($0, nil, epoch: self.epoch)] } ?? []
    }

    mutating func apply(_ now: Instant, hasWaited: Bool = false) -> LoadActionList {
        guard let sending else { return [] }
        stageBegan = now
        enter(.applying)
        return [.apply(sending, hasWaited: hasWaited, epoch: epoch)]
    }

    mutating func queued(_ ticket: Admission.Ticket, _ epoch: Int) -> LoadActionList {
        // Withdrawing has no effect on a load that was admitted meanwhile: it keeps its slots.
        guard epoch == self.epoch, case .applying = state else { return [.withdraw(ticket)] }
        state = .queued(ticket)
        return []
    }

    mutating func mustApplyAgain(_ epoch: Int, _ now: Instant) -> LoadActionList {
        guard isApplying(epoch) else { return [] }
        facts.metrics.admissionTime += now - stageBegan
        return apply(now, hasWaited: true)
    }

    func isApplying(_ epoch: Int) -> Bool {
        guard epoch == self.epoch else { return false }
        switch state {
        case .applying, .queued, .dialling: return true
        default: return false
        }
    }

    /// Starts the attempt with its slots and its address, unless the credentials are too old by
    /// now.
    mutating func admitted(
        _ context: AttemptContext, _ mayAskNow: Bool, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        let release = LoadAction.release(context.candidate, context.origin)
        guard isApplying(epoch) else { return [release, .leave(context.origin)] }
        facts.metrics.admissionTime += now - stageBegan
        guard !facts.mustAuthoriseAgain(at: now) else {
            let mustTry = facts.mustTry
            facts.beginAttempt()
            (facts.wasAskedAgain, facts.mustTry) = (true, mustTry)
            // The slots are kept for an immediate answer, and given back for any other.
            guard mayAskNow else {
                return [release, .leave(context.origin)] + askAuthorisers(slots: nil, now)
            }
            return [release] + askAuthorisers(slots: context.origin, now)
        }
        if facts.triedAddresses.isEmpty { facts.metrics.attempts += 1 }
        facts.hasBegunRetry = true
        facts.head = facts.deliveredHead
        facts.body = nil
        if case .address(let address) = context.candidate { facts.metrics.note(address) }
        openAttempts += 1
        stageBegan = now
        enter(.running(Attempt(context)))
        return [.start(context)]
    }

    /// The request of the next attempt; nil before the request was checked.
    var sending: Sending? { Sending(facts) }
}
