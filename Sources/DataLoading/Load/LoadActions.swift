// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Performs the actions of a load, in the order of its life.
extension Load {
    func perform(_ action: consuming LoadAction, for caller: Caller) {
        switch consume action {
        case .nothing: break
        case .askForChunkSupport(let epoch):
            end.askForChunkSupport(self) { self.handle(.chunkSupport($0, epoch: epoch)) }
        case .prepareSink(let epoch): prepareSink(epoch)
        case .recall(let epoch): recall(epoch)
        case .share(let target, let epoch): share(target, epoch)
        case .leaveCarrier(let carrier): handle(.leftCarrier(mayHaveSent: carrier.leave(self)))
        case .intercept(let epoch): intercept(epoch)
        case .endInterception(let interception): interception.end()
        case .withdrawInterception(let interception):
            handle(.insideWithdrawn(mayHaveSent: interception.end()))
        case .noteCounted(let carrier): carrier.wasCounted()
        case .tellHead: end.headArrived()
        case .play(let use, let target, let recalled, let epoch):
            play(use, target, recalled, epoch)
        case .revalidate(let request, let recalled):
            context.revalidate(request, recalled)
        case .keep(let kept): keep(kept)
        case .removeStored(let target): removeStored(target)
        case .dropStored(let recall): runtime.cache?.drop(recall)
        case .invalidate(let head, let method, let target): invalidate(head, method, target)
        case .authorise(let epoch): authorise(epoch)
        case .cancelTask(let task):
            // Cancelling may run a user's cancellation handler, which may block.
            context.queue.async { task.cancel() }
        case .apply(let sending, let hasWaited, let epoch): apply(sending, hasWaited, epoch)
        case .withdraw(let ticket): _ = runtime.admission.withdraw(ticket)
        case .changePlace(let ticket): runtime.admission.move(ticket) { self.priority }
        case .dial(let sending, let candidate, let epoch): dial(sending, candidate, epoch)
        case .release(let candidate, let origin):
            runtime.resolver.report(candidate, forHost: origin.host, outcome: .neutral)
        case .start(let attempt): start(attempt)
        case .pauseAttempt(let attempt): pause(attempt)
        case .resumeAttempt(let attempt): if !end.isFull { attempt.resume() }
        case .cancelAttempt(let attempt): attempt.cancel()
        case .withdrawAttempt(let attempt):
            handle(.withdrawn(attempt, mayHaveSent: attempt.cancel()))

        case .noteRetryAfter(let head, let target): noteRetryAfter(head, target)
        case .judge(let head, let attempt, let asksUsers): judge(head, attempt, asksUsers)
        // `handle` performs these in a loop, so that many of them do not nest.
        case .takeHeld: break
        case .deliverHead(let response): deliverHead(response, caller)
        case .deliver(let bytes, let attempt):
            if end.didReceive(bytes, from: self, by: caller) { pause(attempt) }
        case .noteProgress(let progress, let direction): reporter?.note(progress, direction)
        case .flushProgress: reporter?.flush()
        case .settle(let attempt, let outcome, let isClean, let cost):
            note(outcome, of: attempt)
            noteSuccess(attempt.origin, isClean: isClean, cost)
            runtime.admission.leave(attempt.origin, slotUse)
        case .noteAddress(let attempt, let outcome): note(outcome, of: attempt)
        case .judgeFailure(let failure, let facts, let holdsSlot, let epoch):
            let next = Judge(facts, self).next(
                after: failure, holdsSlot: holdsSlot, load: ObjectIdentifier(self))
            handle(.decided(next, epoch: epoch))
        case .askPolicy(let failure, let isSpared, let epoch):
            askPolicy(failure, isSpared, epoch)
        case .leave(let origin): runtime.admission.leave(origin, slotUse)
        case .handOn(let origin):
            runtime.queue.async { self.runtime.admission.leave(origin, self.slotUse) }

        case .askForBody(let epoch):
            end.askForBodyStream(self) { self.handle(.newBody($0, epoch: epoch)) }
        case .tellWaitingForConnectivity: end.isWaitingForConnectivity(self)
        case .setTimer(let delay, let epoch):
            let instant = runtime.timerQueue.now + delay
            let timer = runtime.timerQueue.schedule(at: instant, for: self, tag: epoch)
            handle(.timerSet(timer, epoch: epoch))
        case .cancelTimer(let timer): runtime.timerQueue.cancel(timer)

        case .noteSuccess(let origin, let isClean, let cost):
            noteSuccess(origin, isClean: isClean, cost)
        case .refund(let cost, let origin): runtime.originHealth.refund(cost, for: origin)
        case .drop:
            end.dropPending()
            reporter?.close()
        case .markCancelled: token.markCancelled()
        case .announceOutcome(let deadline):
            if let deadline { runtime.timerQueue.cancel(deadline) }
            announceOutcome(caller)
        case .report: tellObservers(of: report)
        }
    }

    /// Tells the observers of the load, which is over.
    func tellObservers(of response: @autoclosure () -> DataLoaderResponse?) {
        runtime.observers.notify { end.isObserved ? response().map(observed) : nil }
        if isCounted { runtime.liveLoads.loadEnded() }
        interception?.isOver(self)
    }

    /// Runs a block that calls user code on the factory's queue; ends the load when too many wait
    /// there.
    ///
    /// The wait does not retain a load that ends meanwhile, and no user code runs for it.
    func onFactoryQueue(_ body: @escaping @Sendable (Load) -> Void) {
        if !context.backlog.run(for: token, body) { handle(.overloaded) }
    }

    /// Lets the sink look for what an earlier load has left, before anything is sent.
    private func prepareSink(_ epoch: Int) {
        runtime.timekeeper.workBegan()
        end.prepareSink(self) { result in
            switch result {
            case .success(let part): self.handle(.sinkIsReady(part, epoch: epoch))
            case .failure(let error): self.handle(.failed(error, epoch: epoch))
            }
            self.runtime.timekeeper.workEnded()
        }
    }

    /// Asks for slots; the load continues at once, or when it is admitted from the queue.
    private func apply(_ sending: Sending, _ hasWaited: Bool, _ epoch: Int) {
        let origin = sending.target.origin
        if let fault = runtime.resolver.malformedSetting(forHost: origin.host) {
            return handle(.failed(fault, epoch: epoch))
        }
        let key: RuleKey
        do throws(DataLoaderError) {
            key = try runtime.limiter.validRuleKey(for: sending.target)
        } catch {
            return handle(.failed(error, epoch: epoch))
        }
        let application = Admission.Application(
            candidate: Admission.Candidate(
                waiting: self, epoch: epoch, deadline: sending.deadline),
            key: key, origin: origin,
            loader: ObjectIdentifier(end.loader ?? registry), priority: sending.priority,
            use: slotUse,
            bypassesConnectionLimit: isForAuthoriser, hasWaited: hasWaited)
        switch runtime.admission.enter(application) {
        case .admitted: dial(sending, nil, epoch)
        case .queued(let ticket):
            handle(.queued(ticket, epoch: epoch))
            end.isQueued(self)
        case .refused(let error): handle(.failed(error, epoch: epoch))
        }
    }

    /// Chooses an address for an attempt whose slots are held.
    func dial(
        _ sending: Sending, _ candidate: HostResolver.Candidate?, _ epoch: Int
    ) {
        if candidate == nil, standsBack(sending, epoch) { return }
        let origin = sending.target.origin
        let candidate =
            candidate ?? runtime.choosePeer(for: origin, excluding: sending.triedAddresses)
            // The addresses have changed since the attempt began.
            ?? runtime.choosePeer(for: origin) ?? .name
        let attempt = AttemptSink(
            load: self, origin: origin, candidate: candidate,
            request: sending.transportRequest(to: candidate, runtime), begun: runtime.timerQueue.now
        )
        let mayAskNow = context.authorisesInPlace || context.backlog.isIdle
        handle(.admitted(attempt, mayAskNow: mayAskNow, epoch: epoch))
    }

    /// Skips an attempt to an origin to which another load just failed to connect; false when the
    /// attempt must be made.
    ///
    /// A skipped attempt counts as a failed one, so that the load's pauses and retries are as
    /// usual. The last attempt of a load is never skipped: every load makes at least one.
    private func standsBack(_ sending: Sending, _ epoch: Int) -> Bool {
        guard sending.maySpare,
            let error = runtime.originHealth.recentFailure(
                of: sending.target.origin, for: ObjectIdentifier(self), now: runtime.timerQueue.now)
        else { return false }
        return standsBack(sending, because: error, epoch)
    }

    // Not inlined, so that no other load has the place of the data on its stack.
    @inline(never) private func standsBack(
        _ sending: Sending, because error: DataLoaderError, _ epoch: Int
    ) -> Bool {
        guard let facts = facts(epoch: epoch) else { return false }
        let failure = TransportFailure(error, sent: .nothingWritten)
        let next: NextStep
        if facts.traits.hasUsersPolicy {
            // The policy may block: the slots are not kept while it is asked.
            next = .askPolicy(failure, isSpared: true)
        } else {
            guard let pause = Judge(facts, self).standBack(from: failure) else { return false }
            next = pause
        }
        // The next load that gets the slots may skip its attempt too; these calls must not nest.
        runtime.queue.async {
            self.runtime.admission.leave(sending.target.origin, self.slotUse)
            self.handle(.decided(next, epoch: epoch))
        }
        return true
    }

    private func start(_ attempt: AttemptSink) {
        let (isStarted, isPaused) = attempt.start(on: runtime.transport)
        if !isStarted {
            // The attempt was cancelled before: nothing was sent, and the transport reports
            // nothing.
            let failure = TransportFailure(.cancelled, sent: .nothingWritten)
            attemptEnded(attempt, failure.report, failure)
        } else if isPaused {
            pause(attempt)
        }
    }

    /// Pauses a transfer until there is room again.
    private func pause(_ attempt: AttemptSink) {
        attempt.pause()
        // A resume that came before this pause had no effect.
        if mayGoOn(attempt) { attempt.resume() }
    }

    /// Tells the resolver what an attempt showed about its address.
    private func note(_ outcome: AddressOutcome, of attempt: AttemptSink) {
        runtime.resolver.report(
            attempt.candidate, forHost: attempt.origin.host, outcome: outcome,
            begun: attempt.begun)
    }

    /// Tells the retry budget of a success: clean, or after a retry that had a cost.
    private func noteSuccess(_ origin: Origin, isClean: Bool, _ cost: RetryCost?) {
        if let cost {
            runtime.originHealth.refund(cost, for: origin)
        } else if isClean {
            runtime.originHealth.noteCleanSuccess(for: origin)
        }
    }

    /// Closes the gate that a 429 or 503 asks for; it applies to every load of the key.
    private func noteRetryAfter(_ head: ResponseHead, _ target: RequestTarget) {
        let delay = RetryAfter.delay(inArriving: head.headers, date: runtime.timekeeper.date)
        guard let delay else { return }
        runtime.limiter.setRetryAfter(delay, for: runtime.limiter.ruleKey(for: target))
    }

    /// Decides about a response, on the factory's queue where user code takes part.
    private func judge(_ head: ResponseHead, _ attempt: AttemptSink, _ asksUsers: Bool) {
        guard asksUsers else { return judge(head, attempt) }
        onFactoryQueue { [weak attempt] load in
            if let attempt { load.judge(head, attempt) }
        }
    }

    private func judge(_ head: ResponseHead, _ attempt: AttemptSink) {
        guard let facts = facts(of: attempt) else { return }
        handle(.judged(Judge(facts, self).verdict(on: head), attempt))
    }

    /// Asks the request's own policy on the factory's queue.
    private func askPolicy(_ failure: TransportFailure, _ isSpared: Bool, _ epoch: Int) {
        let ask: @Sendable (Load) -> Void = { load in
            guard let facts = load.facts(epoch: epoch) else { return }
            let judge = Judge(facts, load)
            let next =
                isSpared
                ? judge.standBack(from: failure) ?? .tryAnyway : judge.lastResort(after: failure)
            load.handle(.decided(next, epoch: epoch))
        }
        if context.isOnQueue { ask(self) } else { onFactoryQueue(ask) }
    }

    private func deliverHead(_ response: DataLoaderResponse, _ caller: Caller) {
        var response = response
        response.retryAfter = retryAfter(response.headers)
        end.didReceiveInitial(response, from: self, by: caller)
        // A shut-down that began before did not cancel this load, which had no open end then.
        if runtime.isClosing, mayStreamForEver { cancel() }
    }

    /// Tells the end of the load that the outcome can be taken, after the last report of progress.
    private func announceOutcome(_ caller: Caller) {
        guard let reporter else { return end.outcomeIsReady(self, by: caller) }
        reporter.finish { self.end.outcomeIsReady(self, by: .other) }
    }

    /// Returns what observers see of a response.
    private func observed(_ response: consuming DataLoaderResponse) -> DataLoaderResponse {
        addBodyFile(to: &response)
        guard isForAuthoriser else { return response }
        // The load has an authoriser's tokens and passwords. Observers can still count it.
        response.metrics.isInternal = true
        response.request.body = nil
        response.request.headers = HTTPHeaders()
        response.headers = HTTPHeaders()
        response.body = nil
        return response
    }
}
