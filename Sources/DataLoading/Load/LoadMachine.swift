// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The state machine of one load: a pure value that turns events into actions.
///
/// ```
/// created ─▶ intercepting ─▶ ended
///    │
///    └─▶ asking? ─▶ recalling? ─▶ following? ─▶ authorising ─▶ applying ─▶ queued? ─▶ running ─▶ deciding? ─▶ ended
///                           ▲              ▲          │          │
///                           │              └──────────┘          │
///                           └── pausing ◀── retry, redirect, 401 ┘
/// ```
///
/// A stage that answers later has an epoch. An answer with an older epoch is undone or ignored.
///
/// It is one file, so that nothing else can change the state: it has every transition. What a stage
/// decides by itself is in `LoadFacts` and `Judge`.
struct LoadMachine: Sendable {
    private enum State: Sendable {
        case created
        /// The owner is asked whether it takes chunks.
        case askingForChunks
        /// The sink looks for what an earlier load has left.
        case preparingSink
        /// The owner is asked for another body; indirect, because each load has room for the largest.
        indirect case askingForBody(then: NextStep, otherwise: DataLoaderError?)
        /// The factory's interceptors are called.
        case intercepting(Interception?)
        /// The cache is asked, or a stored response is about to be played.
        case recalling
        /// The load waits for the answer to a request that it shares.
        case following(Carrier?)
        /// The authorisers are asked; with a task when one answers later. Slots are kept for an
        /// immediate answer.
        case authorising(Task<Void, Never>?, slots: Origin?)
        /// The load has asked for slots.
        case applying
        case queued(Admission.Ticket)
        /// The load holds slots, and an address is being chosen.
        case dialling(Origin)
        /// The attempt of `running` runs.
        case running
        /// The step after an attempt is being decided; its slots may still be held.
        case deciding(slots: Origin?)
        /// The pause's timer is not set yet.
        case resting
        case pausing(TimerQueue.Entry)
        /// The deadline passed while an attempt or another load worked for this one; it is being
        /// cancelled or left.
        case timingOut(DataLoaderError.Phase?)
        case ended(LoadEnding)
    }

    private var state = State.created
    /// The attempt that runs, while the state says so; in a box, because few waiting loads have one.
    private var running: CopyOnWrite<Attempt>?
    /// The number of stages that the load has entered.
    private var epoch = 0
    private(set) var facts: LoadFacts
    /// The instant at which the present stage began, for the metrics.
    private var stageBegan: Instant
    private var deadline: TimerQueue.Entry?
    /// The number of attempts whose end the transport has not reported.
    private var openAttempts = 0
    /// Whether the time of an attempt that was never sent was counted before its end was reported.
    private var hasCountedConnecting = false
    /// The priority with which the load has asked for slots.
    private var appliedPriority = Priority.normal

    init(_ facts: consuming LoadFacts) {
        stageBegan = facts.traits.begun
        self.facts = facts
    }

    private var traits: LoadTraits { facts.traits }

    /// The name of the state, for tests and debuggers.
    var stateName: Substring { "\(state)".prefix { $0 != "(" } }

    /// Handles one event at an instant; appends the actions that follow, in order.
    ///
    /// The instant is not read for bytes of a body, because reading a clock for each piece would
    /// cost. What happens to every load appends its actions where they are wanted: a list that is
    /// returned is copied. The rest returns them.
    mutating func handle(
        _ event: LoadEvent, _ actions: inout LoadActionList, at now: @autoclosure () -> Instant
    ) {
        switch event {
        case .begin(let target, let refusal, let timer):
            begin(target, refusal, timer, &actions, now())
        case .authorised(let chain, let epoch): authorised(chain, epoch, &actions, now())
        case .admitted(let context, let mayAskNow, let epoch):
            admitted(context, mayAskNow, epoch, &actions, now())
        case .head(let head, let context): received(head, context, &actions)
        case .bytes(let bytes, let context):
            guard isRunning(context) else { return }
            running?.change { $0.received(bytes, &facts, &actions) }
        default: actions += handleOther(event, at: now())
        }
    }

    private mutating func handleOther(
        _ event: LoadEvent, at now: @autoclosure () -> Instant
    ) -> LoadActionList {
        switch event {
        case .begin, .authorised, .admitted, .head, .bytes: []
        case .chunkSupport(let isThere, let epoch): chunkSupport(isThere, epoch, now())
        case .newBody(let stream, let epoch): newBody(stream, epoch, now())
        case .interceptionBegan(let interception, let epoch): interceptionBegan(interception, epoch)
        case .intercepted(let answer, let epoch): intercepted(answer, epoch, now())
        case .insideCounted(let metrics, let isOver): insideCounted(metrics, isOver)
        case .insideWithdrawn(let mayHaveSent): insideWithdrawn(mayHaveSent, now())
        case .sinkIsReady(let part, let epoch): sinkIsReady(part, epoch, now())
        case .recalled(let recalled, let playing, let epoch):
            self.recalled(recalled, playing, epoch, now())
        case .answered(let whole, let epoch): answered(whole, epoch, now())
        case .follows(let carrier, let epoch): follows(carrier, epoch)
        case .notShared(let epoch): notShared(epoch, now())
        case .leftCarrier(let mayHaveSent): leftCarrier(mayHaveSent, now())
        case .shared(let shared, let epoch): self.shared(shared, epoch, now())
        case .authoriserAnswersLater(let task, let epoch): answersLater(task, epoch)
        case .queued(let ticket, let epoch): queued(ticket, epoch)
        case .mustApplyAgain(let epoch): mustApplyAgain(epoch, now())
        case .carries(let priority): carries(priority)
        case .timerSet(let timer, let epoch): timerSet(timer, epoch)
        case .timeIsOver(let epoch): timeIsOver(epoch, now())
        case .decided(let next, let epoch): decided(next, epoch, now())
        case .failed(let error, let epoch): epoch == self.epoch ? fail(error, now()) : []
        case .overloaded: complete(.overloaded, now())
        case .judged(let verdict, let context): judged(verdict, context)
        case .takeHeld(let context): takeHeld(context, now())
        case .sent(let progress, let context):
            isRunning(context) ? [.noteProgress(progress, .upload)] : []
        case .withdrawn(let context, let mayHaveSent): withdrawn(context, mayHaveSent, now())
        case .windowHasOpened: windowHasOpened()
        case .sinkFailed(let error): sinkFailed(error, now())
        case .deadlineHasPassed: deadlineHasPassed(now())
        case .endFromOutside(let error): endFromOutside(error, now())
        }
    }
}

/// Handles the events from `perform` to the slots of an attempt.
extension LoadMachine {
    /// Collects the actions of a step, to return them.
    private mutating func collect(
        _ step: (inout LoadMachine, inout LoadActionList) -> Void
    ) -> LoadActionList {
        var actions: LoadActionList = []
        step(&self, &actions)
        return actions
    }

    private mutating func enter(_ state: State) {
        self.state = state
        running = nil
        epoch += 1
    }

    private mutating func run(_ context: AttemptSink) {
        openAttempts += 1
        enter(.running)
        running = CopyOnWrite(Attempt(context))
    }

    private mutating func begin(
        _ target: Result<RequestTarget, RequestFault>, _ refusal: DataLoaderError?,
        _ timer: TimerQueue.Entry?, _ actions: inout LoadActionList, _ now: Instant
    ) {
        guard case .created = state else {
            if let timer { actions.append(.cancelTimer(timer)) }
            return
        }
        deadline = timer
        if let refusal { return complete(refusal, &actions, now) }
        // The loads inside check what the interceptors make of the request.
        guard !traits.isIntercepted else { return actions += intercept(now) }
        switch target {
        case .success(let target): facts.baseTarget = target
        case .failure(let fault): return complete(.invalidRequest(fault), &actions, now)
        }
        guard !traits.resumesFile else {
            enter(.preparingSink)
            return actions.append(.prepareSink(epoch: epoch))
        }
        guard traits.request.chunks else { return recall(&actions, now) }
        enter(.askingForChunks)
        actions.append(.askForChunkSupport(epoch: epoch))
    }

    private mutating func chunkSupport(
        _ isThere: Bool, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .askingForChunks = state else { return [] }
        return isThere ? collect { $0.recall(&$1, now) } : complete(.chunksNotSupported, now)
    }

    private mutating func intercept(_ now: Instant) -> LoadActionList {
        guard !traits.request.chunks else { return complete(.chunksNotSupported, now) }
        enter(.intercepting(nil))
        return [.intercept(epoch: epoch)]
    }

    private mutating func interceptionBegan(
        _ interception: Interception, _ epoch: Int
    ) -> LoadActionList {
        // The load is over when the loads inside are.
        openAttempts += 1
        guard epoch == self.epoch, case .intercepting = state else {
            return [.endInterception(interception)]
        }
        state = .intercepting(interception)
        return []
    }

    private mutating func intercepted(
        _ answer: InterceptedAnswer, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        facts.count { $0.add(answer.metrics) }
        guard epoch == self.epoch, case .intercepting = state else { return [] }
        return complete(facts.take(answer), now)
    }

    private mutating func insideCounted(_ metrics: LoadMetrics, _ isOver: Bool) -> LoadActionList {
        facts.count { $0.add(metrics) }
        guard isOver else { return [] }
        openAttempts -= 1
        return reportIfOver()
    }

    private mutating func insideWithdrawn(_ mayHaveSent: Bool, _ now: Instant) -> LoadActionList {
        guard case .timingOut = state else { return [] }
        return complete(timeout(at: now, mayHaveBeenProcessed: mayHaveSent), now)
    }

    private mutating func sinkIsReady(
        _ part: StoredPart?, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .preparingSink = state else { return [] }
        facts.take(part)
        return collect { $0.recall(&$1, now) }
    }

    /// Asks the cache, before authorisers and slots: a stored response costs neither.
    private mutating func recall(_ actions: inout LoadActionList, _ now: Instant) {
        guard traits.usesCache else { return share(&actions, now) }
        guard facts.mayBeStored else {
            facts.count { $0.cacheStatus = .otherMethod }
            return share(&actions, now)
        }
        facts.beginAttempt()
        enter(.recalling)
        actions.append(.recall(epoch: epoch))
    }

    private mutating func recalled(
        _ recalled: Recall, _ playing: AttemptSink?, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .recalling = state else { return [] }
        facts.note(recalled)
        if recalled.decision == .unavailable { return complete(.notCached, now) }
        guard let playing else { return collect { $0.share(&$1, now) } }
        let mustAskMeanwhile =
            recalled.decision == .reuse(.whileRevalidating) && playing.source == .stale
            && !facts.isPlaying
        facts.isPlaying = true
        facts.count { $0.source = playing.source }
        facts.head = nil
        facts.body = nil
        run(playing)
        guard mustAskMeanwhile else { return [.start(playing)] }
        return [.start(playing), .revalidate(facts.base, recalled)]
    }

    /// Takes a stored response that needs no transfer.
    private mutating func answered(
        _ whole: StoredWhole, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .recalling = state else { return [] }
        facts.take(whole)
        let actions = complete(nil, now)
        return traits.tellsHeads ? [.tellHead] + actions : actions
    }

    /// Lets the load share a request, before authorisers and slots.
    private mutating func share(_ actions: inout LoadActionList, _ now: Instant) {
        // What is shared is the request as it was performed, not what a redirect has made of it.
        guard traits.mayShare, facts.attempts == 0, facts.redirects == 0,
            let target = facts.baseTarget
        else {
            return authorise(&actions, now)
        }
        enter(.following(nil))
        actions.append(.share(target, epoch: epoch))
    }

    private mutating func follows(_ carrier: Carrier, _ epoch: Int) -> LoadActionList {
        guard epoch == self.epoch, case .following = state else { return [.leaveCarrier(carrier)] }
        state = .following(carrier)
        return []
    }

    private mutating func notShared(_ epoch: Int, _ now: Instant) -> LoadActionList {
        guard epoch == self.epoch, case .following = state else { return [] }
        return authorise(now)
    }

    /// Notes whether the request of the load that this one has left may have been sent, and ends a
    /// load that has left it at the deadline.
    private mutating func leftCarrier(_ mayHaveSent: Bool, _ now: Instant) -> LoadActionList {
        if mayHaveSent { facts.mayHaveBeenProcessed = true }
        guard case .timingOut = state else { return [] }
        let error = timeout(at: now, mayHaveBeenProcessed: mayHaveSent)
        // The load that is sent may be in any phase once it has begun.
        return complete(mayHaveSent ? error : error.occurring(.waitingForSlot), now)
    }

    private mutating func shared(
        _ shared: SharedResponse, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .following = state else { return [] }
        facts.take(shared)
        // The carrier is over.
        state = .following(nil)
        let actions = fail(shared.response.error, now)
        return shared.isCounted ? [.noteCounted(shared.carrier)] + actions : actions
    }

    /// Plays a stored response in place of an attempt.
    private mutating func play(_ use: StoredUse) -> LoadActionList {
        guard let target = facts.baseTarget, let recalled = facts.recalled else { return [] }
        facts.beginAttempt()
        enter(.recalling)
        return [.play(use, target, recalled, epoch: epoch)]
    }

    private mutating func authorise(_ now: Instant) -> LoadActionList {
        collect { $0.authorise(&$1, now) }
    }

    private mutating func authorise(_ actions: inout LoadActionList, _ now: Instant) {
        facts.beginAttempt()
        askAuthorisers(slots: nil, &actions, now)
    }

    private mutating func askAuthorisers(
        slots: Origin?, _ actions: inout LoadActionList, _ now: Instant
    ) {
        guard traits.isAuthorised else { return apply(&actions, now) }
        stageBegan = now
        enter(.authorising(nil, slots: slots))
        actions.append(.authorise(epoch: epoch))
    }

    private mutating func answersLater(_ task: Task<Void, Never>, _ epoch: Int) -> LoadActionList {
        guard isAuthorising(epoch), case .authorising(_, let slots) = state else {
            return [.cancelTask(task)]
        }
        state = .authorising(task, slots: nil)
        return handOn(slots)
    }

    private mutating func authorised(
        _ chain: AuthoriserChain, _ epoch: Int, _ actions: inout LoadActionList, _ now: Instant
    ) {
        guard epoch == self.epoch, case .authorising(_, let slots) = state else { return }
        facts.times.authorisation.addSaturated(now.nanoseconds(since: stageBegan))
        stageBegan = now
        do {
            try facts.authorised(by: chain, at: now)
        } catch {
            return complete(.invalidRequest(error), &actions, now)
        }
        // A load that was in the queue before does not lose its place by a change of rates.
        guard let slots else { return apply(&actions, now, hasWaited: facts.wasAskedAgain) }
        guard slots == facts.target?.origin else {
            actions.append(.handOn(slots))
            return apply(&actions, now, hasWaited: true)
        }
        enter(.dialling(slots))
        if let sending { actions.append(.dial(sending, nil, epoch: self.epoch)) }
    }

    private mutating func apply(_ now: Instant, hasWaited: Bool = false) -> LoadActionList {
        collect { $0.apply(&$1, now, hasWaited: hasWaited) }
    }

    private mutating func apply(
        _ actions: inout LoadActionList, _ now: Instant, hasWaited: Bool = false
    ) {
        guard let sending else { return }
        stageBegan = now
        appliedPriority = sending.priority
        enter(.applying)
        actions.append(.apply(sending, hasWaited: hasWaited, epoch: epoch))
    }

    private mutating func queued(_ ticket: Admission.Ticket, _ epoch: Int) -> LoadActionList {
        // Withdrawing has no effect on a load that was admitted meanwhile: it keeps its slots.
        guard epoch == self.epoch, case .applying = state else { return [.withdraw(ticket)] }
        state = .queued(ticket)
        return facts.base.priority != appliedPriority ? [.changePlace(ticket)] : []
    }

    /// Makes the load as urgent as the most urgent one that waits for it.
    private mutating func carries(_ priority: Priority) -> LoadActionList {
        guard priority != facts.base.priority else { return [] }
        facts.base.priority = priority
        // An application that was not answered yet changes its place afterwards.
        guard case .queued(let ticket) = state else { return [] }
        return [.changePlace(ticket)]
    }

    private mutating func mustApplyAgain(_ epoch: Int, _ now: Instant) -> LoadActionList {
        guard isApplying(epoch) else { return [] }
        facts.times.admission.addSaturated(now.nanoseconds(since: stageBegan))
        return apply(now, hasWaited: true)
    }

    private func isApplying(_ epoch: Int) -> Bool {
        guard epoch == self.epoch else { return false }
        switch state {
        case .applying, .queued, .dialling: return true
        default: return false
        }
    }

    /// Starts the attempt with its slots and its address, unless the credentials are too old by
    /// now.
    private mutating func admitted(
        _ context: AttemptSink, _ mayAskNow: Bool, _ epoch: Int,
        _ actions: inout LoadActionList, _ now: Instant
    ) {
        guard isApplying(epoch) else {
            actions.append(.release(context.candidate, context.origin))
            return actions.append(.leave(context.origin))
        }
        facts.times.admission.addSaturated(now.nanoseconds(since: stageBegan))
        guard !facts.mustAuthoriseAgain(at: now) else {
            actions.append(.release(context.candidate, context.origin))
            let mustTry = facts.mustTry
            facts.beginAttempt()
            (facts.wasAskedAgain, facts.mustTry) = (true, mustTry)
            // The slots are kept for an immediate answer, and given back for any other.
            guard mayAskNow else {
                actions.append(.handOn(context.origin))
                return askAuthorisers(slots: nil, &actions, now)
            }
            return askAuthorisers(slots: context.origin, &actions, now)
        }
        let isAnother = facts.triedAddresses.isEmpty
        facts.count { metrics in
            if isAnother { metrics.attempts += 1 }
            metrics.source = .network
            if case .address(let address) = context.candidate { metrics.note(address) }
        }
        facts.hasBegunRetry = true
        facts.starts += 1
        facts.attemptBegan = context.begun
        facts.head = facts.deliveredHead
        facts.body = nil
        stageBegan = now
        run(context)
        actions.append(.start(context))
    }

    /// The request of the next attempt; nil before the request was checked.
    private var sending: Sending? { Sending(facts) }
}

/// Handles the events of an attempt, and its end.
extension LoadMachine {
    /// Whether an attempt is the one that runs, so that its events count.
    private func isRunning(_ context: AttemptSink) -> Bool {
        running?.value.context === context
    }

    /// Changes the attempt of an event, without copying it; nil when the attempt is over.
    private mutating func inAttempt<Result>(
        _ context: AttemptSink, _ change: (inout Attempt, inout LoadFacts) -> Result
    ) -> Result? {
        guard isRunning(context) else { return nil }
        return running?.change { change(&$0, &facts) }
    }

    private mutating func received(
        _ head: ResponseHead, _ context: AttemptSink, _ actions: inout LoadActionList
    ) {
        if !context.isRefusedByProxy(head) { facts.mayHaveBeenProcessed = true }
        guard isRunning(context) else { return }
        running?.change { $0.received(head, &facts, &actions) }
    }

    private mutating func judged(_ verdict: Verdict, _ context: AttemptSink) -> LoadActionList {
        guard let actions = inAttempt(context, { $0.judged(verdict, &$1) }) else {
            return refund(verdict.cost)
        }
        // A body whose end is held back has ended.
        guard case .discard = verdict, running?.value.holdsEnd != true else { return actions }
        return [.setTimer(Attempt.longestDiscard, epoch: epoch)] + actions
    }

    /// Takes one event that was held back, and asks for the next one.
    ///
    /// Events that arrive meanwhile come after it.
    private mutating func takeHeld(_ context: AttemptSink, _ now: Instant) -> LoadActionList {
        let taken = inAttempt(context) { attempt, _ in
            let wasPaused = attempt.isHeldBack
            return (attempt.takeHeld(), wasPaused)
        }
        switch taken {
        case (.bytes(let bytes), _)?:
            var actions: LoadActionList = []
            running?.change { $0.received(bytes, &facts, &actions, wereHeld: true) }
            actions.append(.takeHeld(context))
            return actions
        case (.end(let failure), _)?:
            var actions: LoadActionList = []
            conclude(failure, nil, &actions, now)
            return actions
        case (nil, true)?:
            return [.resumeAttempt(context)]
        case (nil, false)?, nil:
            return []
        }
    }

    private func windowHasOpened() -> LoadActionList {
        guard let running, !running.value.isHeldBack else { return [] }
        return [.resumeAttempt(running.value.context)]
    }

    /// Handles the end that the transport has reported of an attempt: its socket is closed or idle.
    ///
    /// It is no event like the others: an event as large as a report would have to be allocated.
    mutating func ended(
        _ context: AttemptSink, _ report: TransportReport, _ failure: TransportFailure?,
        _ actions: inout LoadActionList, at now: Instant
    ) {
        openAttempts -= 1
        let isRunning = isRunning(context)
        let head = isRunning ? running?.value.head : nil
        facts.count(
            report, of: context, head?.status, failure, countsConnecting: !hasCountedConnecting,
            at: now)
        if let failure, failure.sent != .nothingWritten { facts.mayHaveBeenProcessed = true }
        if traits.reportsProgress { actions.append(.flushProgress) }
        let outcome: AddressOutcome? =
            context.isStored
            ? nil
            : facts.addressOutcome(of: context, head, failure, hasTimedOut: hasTimedOut, at: now)
        if isRunning {
            // Before a verdict the slots are not kept.
            let isHeld = inAttempt(context) { attempt, _ in attempt.holdBack(failure) } == true
            if !isHeld {
                return conclude(failure, outcome.map { (context, $0) }, &actions, now)
            }
        }
        if let outcome { actions.append(.noteAddress(context, outcome)) }
        if let slots = context.slots { actions.append(.leave(slots)) }
        if !isRunning { actions += reportIfOver() }
    }

    private var hasTimedOut: Bool {
        switch state {
        case .timingOut: true
        case .ended(let ending): ending.isTimeout
        default: false
        }
    }

    /// Concludes the attempt, which still holds its slots when `sent` has it; they are kept while
    /// another address may be tried.
    private mutating func conclude(
        _ failure: TransportFailure?, _ sent: (context: AttemptSink, outcome: AddressOutcome)?,
        _ actions: inout LoadActionList, _ now: Instant
    ) {
        guard var attempt = running.take() else { return }
        if let timer = attempt.value.discardTimer { actions.append(.cancelTimer(timer)) }
        enter(.deciding(slots: nil))
        // In place: the value of a box is copied when it is handed on.
        let (conclusion, keeping) = attempt.change { attempt in
            let conclusion = facts.conclude(attempt, failure)
            let keeping = failure == nil ? facts.keeping(after: attempt) : nil
            facts.noteCacheStatus(of: attempt, keeping)
            return (conclusion, keeping)
        }
        let context = attempt.value.context
        if case .success = conclusion {
            if let keeping { actions.append(keeping) }
            if let (context, outcome) = sent {
                actions.append(
                    .settle(context, outcome, isClean: facts.isClean, facts.retryCost.take()))
            } else if !context.isStored {
                actions.append(facts.takeSuccess(of: context.origin))
            }
            return complete(nil, &actions, now)
        }
        let slots = sent?.context.origin
        if let (context, outcome) = sent { actions.append(.noteAddress(context, outcome)) }
        switch conclusion {
        case .success: break
        case .next(let next):
            if let keeping { actions.append(keeping) }
            if !context.isStored, facts.isAnswer(next) {
                actions.append(facts.takeSuccess(of: context.origin))
            }
            if let slots { actions.append(.leave(slots)) }
            actions += proceed(to: next, now)
        case .failure where context.isStored && !facts.hasDelivered:
            facts.head = nil
            guard let recall = facts.recalled?.withoutStored else {
                return complete(.notCached, &actions, now)
            }
            facts.recalled = recall
            actions += proceed(to: .fetchWhole, now)
        case .failure(let failure)
        where context.isStored && facts.recalled?.request.mustNotGoOn == true:
            // Only the origin has the rest, and it must not be asked.
            complete(failure.error.stopped(by: .alreadyDelivered), &actions, now)
        case .failure(let failure):
            facts.note(failure, at: context.candidate)
            state = .deciding(slots: slots)
            actions.append(
                .judgeFailure(failure, facts, holdsSlot: slots != nil, epoch: epoch))
        }
    }

    private func leave(_ slots: Origin?) -> LoadActionList {
        slots.map { [.leave($0)] } ?? []
    }

    private func handOn(_ slots: Origin?) -> LoadActionList {
        slots.map { [.handOn($0)] } ?? []
    }

    private func refund(_ cost: RetryCost?) -> LoadActionList {
        guard let cost, let origin = facts.target?.origin else { return [] }
        return [.refund(cost, origin)]
    }
}

/// Performs a `NextStep`.
extension LoadMachine {
    /// Performs a step that was decided; gives back its cost or its address when the load has ended
    /// meanwhile.
    private mutating func decided(
        _ next: NextStep, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch else {
            guard case .dial(let candidate) = next, let origin = facts.target?.origin else {
                return refund(next.cost)
            }
            return [.release(candidate, origin)]
        }
        if case .dial = next { facts.cause = .nextAddress }
        switch state {
        case .deciding(let slots?):
            if case .dial(let candidate) = next, let sending {
                enter(.dialling(slots))
                stageBegan = now
                return [.dial(sending, candidate, epoch: self.epoch)]
            }
            state = .deciding(slots: nil)
            return leave(slots) + proceed(to: next, now)
        case .deciding(nil):
            return proceed(to: next, now)
        case .applying, .queued, .dialling:
            // The attempt was skipped, and its slots are given back already.
            facts.times.admission.addSaturated(now.nanoseconds(since: stageBegan))
            return proceed(to: next, now)
        case .authorising(_, let slots):
            // An authoriser has no connection to fetch a credential with. What was to be sent stays,
            // and so does the reason for it.
            facts.times.authorisation.addSaturated(now.nanoseconds(since: stageBegan))
            let cause = facts.cause
            defer { facts.cause = cause }
            return handOn(slots) + proceed(to: next, now)
        default:
            return refund(next.cost)
        }
    }

    private mutating func proceed(to next: NextStep, _ now: Instant) -> LoadActionList {
        switch next {
        case .authoriseAgain:
            facts.noteReauthorisation()
            return authorise(now)
        case .follow(let redirect):
            var actions: LoadActionList = []
            if let success = facts.takeSuccess(ofRedirectTo: redirect.target.origin) {
                actions.append(success)
            }
            facts.follow(redirect)
            recall(&actions, now)
            return actions
        case .retry(let delay, let cost):
            facts.noteRetry(cost)
            return pause(delay, now)
        case .standBack(let delay):
            facts.retries += 1
            return pause(delay, now)
        case .tryAnyway:
            facts.mustTry = true
            return apply(now, hasWaited: true)
        case .startOver(let next):
            facts.resumption = .none
            facts.mayResume = false
            return proceed(to: next, now)
        case .waitForConnectivity(let delay, let timer):
            if facts.attempts > 0 { facts.cause = .retry }
            let isFirst = facts.connectivityTimer == nil
            facts.connectivityTimer = CopyOnWrite(timer)
            return (isFirst ? [.tellWaitingForConnectivity] : []) + pause(delay, now)
        case .dial(let candidate):
            // The slots were given back.
            guard let origin = facts.target?.origin else { return [] }
            return [.release(candidate, origin)] + apply(now)
        case .apply:
            facts.cause = .nextAddress
            return apply(now)
        case .replace:
            facts.cause = .replacement
            facts.needsFreshConnection = true
            facts.count { $0.replacedConnections += 1 }
            return authorise(now)
        case .askPolicy(let failure, let isSpared):
            enter(.deciding(slots: nil))
            return [.askPolicy(failure, isSpared: isSpared, epoch: epoch)]
        case .renewBody(let next, let error):
            enter(.askingForBody(then: next, otherwise: error))
            return [.askForBody(epoch: epoch)]
        case .useStored(let use):
            return play(use)
        case .fetchWhole:
            facts.cause = .wholeResponse
            facts.recalled = facts.recalled.map(\.withoutConditions)
            facts.resumption = .none
            return authorise(now)
        case .finish(let error):
            return fail(error, now)
        }
    }

    /// Ends the load, or delivers what is stored in place of an error.
    private mutating func fail(_ error: DataLoaderError?, _ now: Instant) -> LoadActionList {
        guard let error, let stored = facts.stored(inPlaceOf: error) else {
            return complete(error, now)
        }
        // The authorisers may have refused while the load held its slots.
        guard case .authorising(_, let slots) = state else { return play(.onError(stored)) }
        return handOn(slots) + play(.onError(stored))
    }

    private mutating func newBody(
        _ stream: OneShotStream?, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .askingForBody(let next, let error) = state else {
            return []
        }
        guard let stream else { return complete(error, now) }
        facts.replaceBody(by: stream)
        return proceed(to: next, now)
    }

    private mutating func pause(_ delay: Duration, _ now: Instant) -> LoadActionList {
        guard delay > .zero else { return authorise(now) }
        stageBegan = now
        enter(.resting)
        return [.setTimer(delay, epoch: epoch)]
    }

    private mutating func timerSet(_ timer: TimerQueue.Entry, _ epoch: Int) -> LoadActionList {
        guard epoch == self.epoch else { return [.cancelTimer(timer)] }
        switch state {
        case .resting: state = .pausing(timer)
        // A transport may send a second head.
        case .running where running?.value.discardTimer == nil:
            running?.change { $0.discardTimer = timer }
        default: return [.cancelTimer(timer)]
        }
        return []
    }

    private mutating func timeIsOver(_ epoch: Int, _ now: Instant) -> LoadActionList {
        guard epoch == self.epoch else { return [] }
        switch state {
        case .resting, .pausing:
            facts.times.backOff.addSaturated(now.nanoseconds(since: stageBegan))
            return authorise(now)
        case .running:
            // A body that nobody wants has not ended; what comes after it is decided.
            running?.change { $0.discardTimer = nil }
            return running.map { [.cancelAttempt($0.value.context)] } ?? []
        default:
            return []
        }
    }
}

/// Ends a load.
extension LoadMachine {
    /// Ends the load with its own outcome.
    private mutating func complete(_ error: DataLoaderError?, _ now: Instant) -> LoadActionList {
        var actions: LoadActionList = []
        complete(error, &actions, now)
        return actions
    }

    private mutating func complete(
        _ error: DataLoaderError?, _ actions: inout LoadActionList, _ now: Instant
    ) {
        guard !isEnding else { return }
        end(error, &actions, now)
        if error == .cancelled { actions.append(.markCancelled) }
        actions.append(.announceOutcome(deadline.take()))
    }

    /// Ends the load, and cancels what it was waiting for.
    private mutating func end(
        _ error: DataLoaderError?, _ actions: inout LoadActionList, _ now: Instant
    ) {
        let (stage, attempt) = (state, running)
        enter(.ended(LoadEnding(error.map { $0.occurring(phase(of: stage, attempt, $0)) })))
        let total = now - traits.begun
        facts.count { $0.totalTime = total }
        let time = now.nanoseconds(since: stageBegan)
        switch stage {
        case .authorising(let task, let slots):
            facts.times.authorisation.addSaturated(time)
            if let task { actions.append(.cancelTask(task)) }
            actions += handOn(slots)
        case .applying:
            facts.times.admission.addSaturated(time)
        case .queued(let ticket):
            facts.times.admission.addSaturated(time)
            actions.append(.withdraw(ticket))
        case .resting:
            facts.times.backOff.addSaturated(time)
        case .pausing(let timer):
            facts.times.backOff.addSaturated(time)
            actions.append(.cancelTimer(timer))
        case .running:
            actions += refund(attempt?.value.verdict?.cost)
            if let timer = attempt?.value.discardTimer { actions.append(.cancelTimer(timer)) }
            if let attempt { actions.append(.withdrawAttempt(attempt.value.context)) }
        case .askingForBody(let next, _):
            actions += refund(next.cost)
        case .deciding(let slots):
            actions += leave(slots)
        case .following(let carrier):
            if let carrier { actions.append(.leaveCarrier(carrier)) }
        case .intercepting(let interception):
            if let interception { actions.append(.endInterception(interception)) }
        case .created, .askingForChunks, .preparingSink, .recalling, .dialling, .timingOut,
            .ended:
            // A load that is dialling gives its slots back when its attempt comes too late.
            break
        }
        if let (cost, origin) = facts.takeUnbegunRetry() { actions.append(.refund(cost, origin)) }
    }

    private mutating func endFromOutside(_ error: DataLoaderError, _ now: Instant) -> LoadActionList
    {
        var actions: LoadActionList = [.drop]
        guard case .ended(var ending) = state else {
            var error = error
            // It does not wait to learn what was written.
            if mayHaveSent { error.note { $0.mayHaveBeenProcessed = true } }
            complete(error, &actions, now)
            return actions
        }
        // The owner was told that there is an outcome; it takes the outcome as it is at that time.
        guard ending.isUntaken else { return [] }
        facts.keepReplaced(ending.error)
        if ending.replace(by: error) {
            state = .ended(ending)
            if error == .cancelled { actions.append(.markCancelled) }
        }
        return actions
    }

    private mutating func sinkFailed(_ error: DataLoaderError, _ now: Instant) -> LoadActionList {
        let error = error.occurring(.readingBody)
        guard case .ended(var ending) = state else { return complete(error, now) }
        if ending.isSuccess, ending.replace(by: error) { state = .ended(ending) }
        return []
    }

    private mutating func deadlineHasPassed(_ now: Instant) -> LoadActionList {
        deadline = nil
        if case .intercepting(let interception?) = state {
            enter(.timingOut(nil))
            return [.withdrawInterception(interception)]
        }
        if case .following(let carrier) = state {
            // A load that is just joining cannot tell whether the request was sent before.
            guard let carrier else { return timeOut(now, mayHaveSent: true) }
            enter(.timingOut(nil))
            return [.leaveCarrier(carrier)]
        }
        // Only a cancelled attempt can say whether any of it was sent.
        guard let attempt = running?.value else { return timeOut(now, mayHaveSent: false) }
        enter(.timingOut(attempt.head == nil ? nil : .readingBody))
        return refund(attempt.verdict?.cost)
            + (attempt.discardTimer.map { [.cancelTimer($0)] } ?? [])
            + [.withdrawAttempt(attempt.context)]
    }

    private mutating func timeOut(_ now: Instant, mayHaveSent: Bool) -> LoadActionList {
        let isProcessed = facts.mayHaveBeenProcessed || mayHaveSent
        let error = timeout(at: now, mayHaveBeenProcessed: isProcessed)
        guard case .timingOut(let phase) = state else { return complete(error, now) }
        return complete(error.occurring(phase ?? facts.phase(mayHaveSent: mayHaveSent)), now)
    }

    private func timeout(at now: Instant, mayHaveBeenProcessed: Bool) -> DataLoaderError {
        let limit = traits.deadline.map { $0 - traits.begun } ?? now - traits.begun
        return .timedOut(after: limit, mayHaveBeenProcessed: mayHaveBeenProcessed)
    }

    private mutating func withdrawn(
        _ context: AttemptSink, _ mayHaveSent: Bool, _ now: Instant
    ) -> LoadActionList {
        if mayHaveSent, isEnding { facts.mayHaveBeenProcessed = true }
        if !mayHaveSent, openAttempts > 0 {
            // Otherwise the transport has reported that time already.
            let time = now - stageBegan
            facts.count { $0.connectTime += time }
            hasCountedConnecting = true
        }
        guard case .timingOut = state else { return [] }
        return timeOut(now, mayHaveSent: mayHaveSent)
    }

    /// Takes the outcome, to hand it over now; nil when it was taken or there is none.
    ///
    /// `isFinal` says whether it is also what observers see: its counts do not change any more.
    mutating func take() -> (response: DataLoaderResponse, isFinal: Bool)? {
        guard case .ended(var ending) = state, ending.take() else { return nil }
        state = .ended(ending)
        var response = facts.response(ending.error)
        // Observers get no body.
        let body = facts.body.take()
        if ending.error != nil { response.error?.keepBody(body) }
        response.body = body
        return (response, ending.error == nil && openAttempts == 0)
    }

    /// Notes that the outcome was handed over, or that its receiver was gone, with the date of
    /// `Retry-After` that it had; returns whether the load is over, and to be reported.
    mutating func handedOver(retryAfter: Date?) -> Bool {
        guard case .ended(var ending) = state else { return false }
        ending.handedOver(retryAfter)
        state = .ended(ending)
        return endsReport()
    }

    /// Reports to the observers once the outcome is handed over and no attempt is open any more.
    private mutating func reportIfOver() -> LoadActionList { endsReport() ? [.report] : [] }

    private mutating func endsReport() -> Bool {
        guard case .ended(var ending) = state, openAttempts == 0, ending.report() else {
            return false
        }
        state = .ended(ending)
        return true
    }

    /// The phase of a stage; nil where the stage says nothing about the error.
    private func phase(
        of stage: State, _ attempt: CopyOnWrite<Attempt>?, _ error: DataLoaderError
    ) -> DataLoaderError.Phase? {
        guard !error.isWholeResponse else { return nil }
        return switch stage {
        case .created, .askingForChunks, .preparingSink, .recalling: .preparing
        // The load that is sent may be in any phase, and its error has its own.
        case .following: nil
        case .intercepting: nil
        case .authorising: .authorising
        case .applying, .queued, .dialling: .waitingForSlot
        case .resting, .pausing: .backingOff
        case .running: attempt?.value.head == nil ? nil : .readingBody
        case .askingForBody: .deciding
        // A failure that was judged has its phase, or none.
        case .deciding: error.comesFromOutside ? .deciding : nil
        case .timingOut, .ended: nil
        }
    }
}

/// Tells the rest of a load about its state.
extension LoadMachine {
    /// The request that authorisers are asked about, and the credentials that were refused; nil
    /// when the epoch has passed.
    func asking(_ epoch: Int) -> (DataLoaderRequest, refused: AuthoriserChain.Stamps)? {
        isAuthorising(epoch) ? (facts.outgoing, facts.refusedStamps) : nil
    }

    /// The request that the cache is asked about, and its target; nil when the epoch has passed.
    func recalling(_ epoch: Int) -> (DataLoaderRequest, RequestTarget)? {
        guard epoch == self.epoch, case .recalling = state, let target = facts.baseTarget
        else { return nil }
        return (facts.base, target)
    }

    /// Whether authorisers are asked in an epoch.
    func isAuthorising(_ epoch: Int) -> Bool {
        guard epoch == self.epoch, case .authorising = state else { return false }
        return true
    }

    /// Whether the transfer is paused until the verdict on the response.
    func isHeldBack(_ context: AttemptSink) -> Bool {
        isRunning(context) && running?.value.isHeldBack == true
    }

    /// The response that observers see; nil before the load is over.
    ///
    /// It is made anew, because the byte counts of a cancelled attempt are complete only then.
    var report: DataLoaderResponse? {
        mutating get {
            guard case .ended(let ending) = state, ending.isReported else { return nil }
            var response = facts.response(ending.error)
            response.retryAfter = ending.retryAfter
            return response
        }
    }

    /// Whether the load has its outcome, taken or not.
    var isEnding: Bool {
        if case .ended = state { true } else { false }
    }

    /// Whether a server may have got the request, or may get that of the attempt that runs, or of
    /// another load that answers this one.
    var mayHaveSent: Bool {
        switch state {
        case .following, .intercepting: true
        default: facts.mayHaveBeenProcessed || (running != nil && !facts.isPlaying)
        }
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

    /// The interceptors at work, if any.
    var interception: Interception? {
        if case .intercepting(let interception) = state { interception } else { nil }
    }

    /// Whether the load waits for slots.
    var isApplying: Bool {
        switch state {
        case .applying, .queued: true
        default: false
        }
    }

    /// The place of the load in the queue, if it has one.
    var ticket: Admission.Ticket? {
        if case .queued(let ticket) = state { ticket } else { nil }
    }

    /// Takes what events have replaced, to release it when no lock is held.
    mutating func takeReplaced() -> [LoadFacts.Replaced] { facts.takeReplaced() }

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
    func facts(of context: AttemptSink) -> LoadFacts? {
        isRunning(context) ? facts : nil
    }
}
