// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Exchange {
    /// Whether users' code has a say in what becomes of a response.
    func asksUsers(about head: ResponseHead) -> Bool {
        if hasUsersPolicy { return true }
        switch head.status.rawValue {
        case 401:
            return state.withLock { state in
                !state.progress.participants.isEmpty && !state.progress.isReauthorised
            }
        case 300..<400:
            if case .ask = request.redirectPolicy { return true }
            return false
        default: return false
        }
    }

    /// What becomes of a response, from its head alone.
    func judge(_ head: ResponseHead) -> Attempt.Verdict {
        // Most responses: not worth the copy that the others are judged by.
        let isPlain = state.withLock { state in
            if case .from = state.progress.resumption { return false }
            return state.progress.base.retryPolicy == nil
        }
        if head.status.isSuccess && isPlain { return .deliver }
        let progress = state.withLock { $0.progress }
        guard let target = progress.target else { return .deliver }
        if let verdict = resumed(head, progress, target) { return verdict }
        let verdict =
            reauthorisation(head, progress) ?? redirection(head, progress, target)
            ?? retry(head, progress, target)
        return restricted(verdict, progress)
    }

    /// What comes after a failure: another address, another attempt, or the end.
    func judge(
        _ failure: TransportFailure, sentTo candidate: HostResolver.Candidate, holdsSlot: Bool
    ) -> Step {
        let progress = state.withLock { state in
            if let host = state.progress.target?.origin.host {
                state.progress.triedAddresses.insert(candidate.exclusion(forHost: host))
            }
            // A connection that went silent must not swallow the next attempt too, nor one that
            // refuses streams refuse it. Where one that was kept is stale, others may be as well.
            switch failure.error {
            case .idleTimeout, .http2: state.progress.needsFreshConnection = true
            case .connectionReset, .noResponse:
                if failure.report.reusedConnection { state.progress.needsFreshConnection = true }
            default: break
            }
            return state.progress
        }
        guard let target = progress.target, !progress.isFinal else {
            return .finish(failure.error)
        }
        if holdsSlot, failure.sent == .nothingWritten, failure.error.concernsAddress,
            let other = runtime.resolver.choose(
                forHost: target.origin.host, excluding: progress.triedAddresses)
        {
            guard progress.needsNewBody else { return .send(to: other) }
            runtime.resolver.report(other, forHost: target.origin.host, outcome: .neutral)
            return .renewBody(then: .admit, otherwise: failure.error)
        }
        if let replacement = replacement(for: failure, progress) { return replacement }
        noteOutage(failure, target.origin)
        let step = Step.judge(failure)
        return callsUsers(step) ? step : decide(after: failure) ?? .finish(failure.error)
    }

    /// Another attempt after a failure, or the end; nil when the load has ended meanwhile.
    func decide(after failure: TransportFailure) -> Step? {
        let progress = state.withLock { $0.isDecided ? nil : $0.progress }
        guard let progress, let target = progress.target else { return nil }
        if let pause = pause(after: .failure(failure.error, failure.sent), progress, target) {
            return renewed(pause, progress, failure.error)
        }
        return connectivityPause(failure, progress) ?? .finish(failure.error)
    }

    /// Closes the gate that a 429 or 503 asks for: it holds for every load of the key.
    func noteRetryAfter(_ head: ResponseHead) {
        guard head.status == .tooManyRequests || head.status == .serviceUnavailable,
            let target = state.withLock({ $0.progress.target }),
            let delay = RetryAfter.delay(in: head.headers, date: runtime.timekeeper.date)
        else { return }
        runtime.limiter.setRetryAfter(delay, for: runtime.limiter.ruleKey(for: target))
    }

    private func reauthorisation(
        _ head: ResponseHead, _ progress: LoadProgress
    ) -> Attempt.Verdict? {
        guard head.status == .unauthorised, !progress.participants.isEmpty,
            !progress.isReauthorised
        else { return nil }
        let refusal = refusal(head, progress)
        guard
            progress.participants.contains(where: {
                $0.canRecover(progress.outgoing, from: refusal)
            })
        else { return nil }
        return held(.authoriseAgain, progress, .status(head.status))
    }

    private func redirection(
        _ head: ResponseHead, _ progress: LoadProgress, _ target: RequestTarget
    ) -> Attempt.Verdict? {
        let decision = Redirection.decide(
            head, for: progress.base, madeFor: progress.baseTarget?.origin, at: target,
            visits: progress.visits)
        switch decision {
        case .deliver:
            return nil
        case .refuse(let error):
            return .discard(then: .finish(error))
        case .follow(let next):
            if case .ask(let isAllowed) = progress.base.redirectPolicy {
                let redirect = Redirect(
                    status: head.status, from: progress.base.url, to: next.request.url,
                    method: next.request.method, count: progress.visits.count)
                guard isAllowed(redirect) else { return .deliver }
            }
            return next.request.body == nil
                ? .discard(then: .follow(next))
                : held(.follow(next), progress, .status(head.status))
        }
    }

    private func retry(
        _ head: ResponseHead, _ progress: LoadProgress, _ target: RequestTarget
    ) -> Attempt.Verdict {
        guard let pause = pause(after: .response(head), progress, target) else { return .deliver }
        return held(pause, progress, head.status.isSuccess ? nil : .status(head.status))
    }

    /// The pause before a retry, nil when there is none; a retry is paid for here.
    func pause(
        after end: FinishedAttempt.End, _ progress: LoadProgress, _ target: RequestTarget,
        isSpared: Bool = false
    ) -> Step? {
        let finished = FinishedAttempt(
            end, mayBeSentTwice: progress.base.mayBeSentTwice,
            // The owner may be asked for another body only while none of the response is on its way.
            bodyIsReplayable: !(progress.needsNewBody && progress.streams),
            isDelivered: progress.isFinal)
        var circumstances = RetryPlanner.Circumstances(
            retries: progress.retries, request: progress.base,
            origin: target.origin, remaining: progress.deadline.map { $0 - runtime.agenda.now },
            date: runtime.timekeeper.date)
        circumstances.isSpared = isSpared
        switch runtime.planner.decide(after: finished, circumstances) {
        case .stop:
            return nil
        case .retry(let delay, let cost):
            let isDecided = state.withLock { state in
                state.progress.retries += 1
                guard !isSpared else { return false }
                state.progress.metrics.retries += 1
                state.progress.retryCost = cost
                state.progress.hasBegunRetry = false
                return state.isDecided
            }
            // Ended while users' code was asked, and so without this retry.
            if isDecided { giveBackRetry() }
            return .pause(delay)
        }
    }

    /// Tells the resolver what an attempt says about its address.
    func noteAddress(_ sink: AttemptSink, head: ResponseHead?, failure: TransportFailure?) {
        // A response that was cut short on purpose still says how its server is.
        let isCutShort = failure?.error == .cancelled
        let fromHead = failure == nil || isCutShort ? head.map { AddressOutcome($0.status) } : nil
        var outcome = fromHead ?? failure.map { AddressOutcome($0) } ?? .neutral
        if isCutShort, failure?.sent == .nothingWritten, isLate(sink) { outcome = .serverTrouble }
        runtime.resolver.report(sink.candidate, forHost: sink.origin.host, outcome: outcome)
    }

    /// Whether the deadline ended an attempt that was slow to connect: its time to connect may be the
    /// longer one, and would then never tell of an address that is dead.
    private func isLate(_ sink: AttemptSink) -> Bool {
        // RFC 6298 section 2: by then the system has sent its SYN a second time.
        guard runtime.agenda.now - sink.begun >= .seconds(1) else { return false }
        return state.withLock { state in
            // A file or stream may have kept the attempt from being connected at all.
            let body = state.progress.outgoing.body
            return state.hasTimedOut && (body == nil || body?.bytes != nil)
        }
    }

    /// Tells the retry budget that an origin has answered with a redirect, which is no failure of it.
    ///
    /// One that leads to itself is told of once, at the load's end, but gets a retry's cost back.
    func noteRedirect(to next: Origin) {
        let (origin, cost) = state.withLock { ($0.progress.target?.origin, $0.progress.retryCost) }
        guard let origin, cost != nil || origin != next else { return }
        noteSuccess(origin)
    }

    /// Gives back what a retry has cost that was not begun and never will be: no server was asked.
    func giveBackRetry() {
        let (origin, cost) = state.withLock { state in
            let progress = state.progress
            guard !progress.hasBegunRetry else { return (nil as Origin?, nil as RetryBudget.Cost?) }
            return (progress.target?.origin, state.progress.retryCost.take())
        }
        if let origin, let cost { runtime.budget.refund(cost, for: origin) }
    }

    /// Tells the retry budget of a success.
    func noteSuccess(_ origin: Origin) {
        let (isClean, cost) = state.withLock { state in
            let metrics = state.progress.metrics
            return (
                metrics.retries == 0 && metrics.replacedConnections == 0,
                state.progress.retryCost.take()
            )
        }
        if let cost {
            runtime.budget.refund(cost, for: origin)
        } else if isClean {
            runtime.budget.noteCleanSuccess(for: origin)
        }
    }

    /// Drops a response that something follows; keeps it while that needs a body nobody may have.
    private func held(
        _ step: Step, _ progress: LoadProgress, _ error: DataLoaderError?
    ) -> Attempt.Verdict {
        guard progress.needsNewBody else { return .discard(then: step) }
        return progress.streams ? .deliver : .hold(then: .renewBody(then: step, otherwise: error))
    }

    private func renewed(
        _ step: Step, _ progress: LoadProgress, _ error: DataLoaderError
    ) -> Step {
        progress.needsNewBody ? .renewBody(then: step, otherwise: error) : step
    }

    /// Without a connection, and told to wait for one: growing pauses until the deadline.
    func connectivityPause(
        _ failure: TransportFailure, _ progress: LoadProgress
    ) -> Step? {
        guard progress.base.waitsForConnectivity, failure.sent == .nothingWritten,
            failure.error.concernsConnectivity
        else { return nil }
        var timer =
            progress.connectivityTimer
            ?? ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))
        let delay = runtime.random.withGenerator { timer.timeIntervalAndCalculateNext(using: &$0) }
        state.withLock { [timer] in $0.progress.connectivityTimer = timer }
        if progress.connectivityTimer == nil {
            recipient.isWaitingForConnectivity(self)
        }
        return renewed(.pause(delay), progress, failure.error)
    }
}
